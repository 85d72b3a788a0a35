"""What is inside a simulated container: a folder with programs of its own, and services that really answer.

`apt-get`, `systemctl` and `getent` are programs in the container's `usr/bin`; whatever else is named is this
machine's. A package that serves HTTP starts a real server on the container's address. Output and exit
codes follow Debian 12's apt 2.6 and systemd 252: `apt-get update` ends with 0 even where nothing could be
fetched, unless `--error-on=any` is given.

Faults: `container_dns` (no name can be resolved inside), `container_locales` (no locale but C is generated),
`service_fails` (what is installed does not start).
"""

# ruff: noqa: RET503 -- `die` never returns

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from state import Node, address
from words import die, warn_of_locale

_FOLDERS = ("root", "tmp", "run", "etc", "usr/bin", "var/lib/dpkg/info", "var/www/html", "etc/systemd")
_PROGRAMS = ("apt-get", "systemctl", "getent", "hostname", "dpkg-query")
#: Packages that there are, and the unit that each brings with it.
_PACKAGES = {"nginx": "nginx", "lighttpd": "lighttpd", "curl": "", "ca-certificates": ""}
_VERSIONS = {"nginx": "1.22.1-9+deb12u3", "lighttpd": "1.4.69-1", "curl": "7.88.1-10+deb12u14"}
_HERE = Path(__file__).parent


def unpack(node: Node, vmid: str, hostname: str) -> None:
    """Lay out a fresh container."""
    root = node.root(vmid)
    for folder in _FOLDERS:
        (root / folder).mkdir(parents=True, exist_ok=True)
    (root / "etc/hostname").write_text(hostname + "\n")
    (root / "var/lib/dpkg/status").write_text("")
    for name in _PROGRAMS:
        launcher = root / "usr/bin" / name
        launcher.write_text(
            f'#!/bin/sh\nexec {sys.executable} -I {_HERE / "main.py"} {name} {node.folder} {vmid} "$@"\n'
        )
        launcher.chmod(0o755)


def environment(node: Node, vmid: str, *, keep: Mapping[str, str]) -> dict[str, str]:
    """Return what a command inside finds: its own home and path; the rest as lxc-attach hands it on."""
    root = node.root(vmid)
    own = {
        "PATH": f"{root / 'usr/bin'}:/usr/sbin:/usr/bin:/sbin:/bin",
        "HOME": str(root / "root"),
        "TMPDIR": str(root / "tmp"),
        "container": "lxc",
    }
    return {**keep, **own}


def boot(node: Node, vmid: str) -> None:
    """Start what is enabled, as systemd does."""
    for unit in sorted((node.root(vmid) / "etc/systemd").glob("*.service")):
        _launch(node, vmid, unit.stem)


# ---------------------------------------------------------------- programs


def main(node: Node, program: str, vmid: str, argv: Sequence[str]) -> int:
    """Run one program of the container `vmid`."""
    match program:
        case "apt-get":
            words = [word for word in argv if not word.startswith("-")]
            return _apt(node, vmid, words, strict="--error-on=any" in argv)
        case "systemctl":
            return _systemctl(node, vmid, [word for word in argv if not word.startswith("-")])
        case "getent":
            return _getent(node, list(argv))
        case "hostname":
            print((node.root(vmid) / "etc/hostname").read_text().strip())
            return 0
        case _:
            return _dpkg_query(node, vmid, argv[-1])


def _getent(node: Node, argv: list[str]) -> int:
    """Resolve a name as far as this world has names."""
    state = node.read()
    name = argv[-1]
    if name in {"localhost", "127.0.0.1"}:
        print("127.0.0.1       localhost")
        return 0
    if state["faults"].get("container_dns") or name not in state["upstream"]:
        return 2
    print(f"151.101.2.132   {name}")
    return 0


def _apt(node: Node, vmid: str, words: list[str], *, strict: bool) -> int:
    root, faults = node.root(vmid), node.read()["faults"]
    if faults.get("container_locales"):
        warn_of_locale(known={"C", "POSIX"})
    match words:
        case ["update"]:
            return _update(root, broken=bool(faults.get("container_dns")), strict=strict)
        case ["install", *packages]:
            _install(node, vmid, packages)
        case _:
            die("E: Invalid operation " + " ".join(words[:1]), code=100)
    return 0


def _update(root: Path, *, broken: bool, strict: bool) -> int:
    server = "http://deb.debian.org/debian"
    if broken:
        print(f"Ign:1 {server} bookworm InRelease\nErr:1 {server} bookworm InRelease")
        print("  Temporary failure resolving 'deb.debian.org'\nReading package lists...")
        mark = "E" if strict else "W"
        sys.stderr.write(
            f"{mark}: Failed to fetch {server}/dists/bookworm/InRelease  "
            "Temporary failure resolving 'deb.debian.org'\n"
            f"{mark}: Some index files failed to download. "
            "They have been ignored, or old ones used instead.\n"
        )
        return 100 if strict else 0
    (root / "var/lib/apt-lists").write_text("fetched\n")
    print(f"Get:1 {server} bookworm InRelease [151 kB]\nFetched 9,031 kB in 1s (8,410 kB/s)")
    print("Reading package lists...")
    return 0


def _install(node: Node, vmid: str, packages: Sequence[str]) -> None:
    root = node.root(vmid)
    print("Reading package lists...\nBuilding dependency tree...\nReading state information...")
    for name in packages:
        if name not in _PACKAGES or not (root / "var/lib/apt-lists").exists():
            die(f"E: Unable to locate package {name}", code=100)
    print("The following NEW packages will be installed:\n  " + " ".join(packages), flush=True)
    for name in packages:
        version = _VERSIONS.get(name, "20230311+deb12u1")
        print(f"Unpacking {name} ({version}) ...\nSetting up {name} ({version}) ...", flush=True)
        with (root / "var/lib/dpkg/status").open("a") as status:
            status.write(f"Package: {name}\nStatus: install ok installed\nVersion: {version}\n\n")
        if unit := _PACKAGES[name]:
            (root / "etc/systemd" / f"{unit}.service").write_text("[Service]\n")
            (root / "var/www/html/index.html").write_text(f"<h1>Welcome to {name}!</h1>\n")
            _launch(node, vmid, unit)


def _dpkg_query(node: Node, vmid: str, name: str) -> int:
    if f"Package: {name}\n" in (node.root(vmid) / "var/lib/dpkg/status").read_text():
        print("install ok installed")
        return 0
    die(f"dpkg-query: no packages found matching {name}", code=1)


def _systemctl(node: Node, vmid: str, words: list[str]) -> int:
    verb, unit = words[0], words[-1].removesuffix(".service")
    if verb == "is-active":
        active = (node.root(vmid) / f"run/{unit}.pid").exists()
        print("active" if active else "inactive")
        return 0 if active else 3
    if not (node.root(vmid) / f"etc/systemd/{unit}.service").exists():
        die(f"Failed to {verb} {unit}.service: Unit {unit}.service not found.", code=5)
    if verb in {"start", "restart"}:
        _launch(node, vmid, unit)
        return 0
    die(f"simulation: systemctl {verb} is not here", code=1)


def _launch(node: Node, vmid: str, unit: str) -> None:
    """Start a real HTTP server on the address of the container, in a clean environment as systemd does."""
    if node.spend("service_fails"):
        return
    root = node.root(vmid)
    port = str(node.read()["http_port"])
    command = [sys.executable, "-I", "-m", "http.server", "--bind", address(vmid), port]
    server = subprocess.Popen(
        [*command, "--directory", str(root / "var/www/html")],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={"PATH": os.defpath},
        start_new_session=True,
    )
    (root / f"run/{unit}.pid").write_text(f"{server.pid}\n")
