"""A simulation of `pct`, the container tool of Proxmox VE, as far as the runbooks use it.

Messages, layout and exit codes follow pve-container (`PVE/CLI/pct.pm`, `PVE/API2/LXC.pm`, `LXC/Status.pm`)
and pve-common's command line handler. A container is a private folder; `pct exec` really runs a command, with
that folder's programs first on its path. Nothing is isolated: run only what a test may run.

Faults: `vmid_race` (N times somebody else takes the VMID first), `start_fails`, `start_hangs` (seconds),
`create_hangs` (seconds), `stop_fails`.
"""

# ruff: noqa: UP031 -- the layouts are the format strings of the real program

import hashlib
import os
import shutil
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import inside
from options import parse
from state import Node, State
from words import die, no_config, refuse, warn_of_locale

_CREATE_USAGE = "pct create <vmid> <ostemplate> [OPTIONS]"
_ARCH = "amd64"
_BLOCK = 4096


def main(node: Node, argv: Sequence[str]) -> int:
    """Run one command of `pct`."""
    warn_of_locale()
    if not argv or argv[0] not in _COMMANDS:
        die(f"ERROR: unknown command 'pct {argv[0] if argv else ''}'".rstrip())
    command, rest = argv[0], list(argv[1:])
    if command == "list":
        return _list(node)
    if not rest or not rest[0].isdigit():
        die(f"400 not enough arguments\npct {command} <vmid> [OPTIONS]")
    vmid = rest[0]
    if int(vmid) < 100:
        refuse("vmid", "value must have a minimum value of 100", f"pct {command} <vmid> [OPTIONS]")
    if command == "exec":
        return _exec(node, vmid, rest[1:])
    words, options = parse(rest[1:])
    return _COMMANDS[command](node, vmid, words, options)


# ---------------------------------------------------------------- looking


def _list(node: Node) -> int:
    state = node.read()
    here = [guest for guest in state["guests"].values() if guest["node"] == state["node"]]
    mine = sorted((one for one in here if one["type"] == "lxc"), key=lambda one: one["vmid"])
    if mine:
        rows = [("VMID", "Status", "Lock", "Name")]
        rows += [(one["vmid"], one["status"], one.get("lock", ""), one["config"]["hostname"]) for one in mine]
        for row in rows:
            print("%-10s %-10s %-12s %-20s" % row)
    return 0


def _status(node: Node, vmid: str, _words: list[str], _options: Mapping[str, str]) -> int:
    print(f"status: {_guest(node.read(), vmid)['status']}")
    return 0


def _config(node: Node, vmid: str, _words: list[str], _options: Mapping[str, str]) -> int:
    guest = _guest(node.read(), vmid)
    shown = dict(guest["config"])
    if "lock" in guest:
        shown["lock"] = guest["lock"]
    for key in sorted(shown):
        print(f"{key}: {shown[key]}")
    return 0


def _snapshots(node: Node, vmid: str, _words: list[str], _options: Mapping[str, str]) -> int:
    names = _guest(node.read(), vmid).get("snapshots", [])
    for depth, name in enumerate(names):
        print(f"{' ' * depth}`-> {name:<{20 - depth}}  2026-03-02 14:00:00     no-description")
    print(f"{' ' * len(names)}`-> {'current':<{20 - len(names)}}" + " " * 21 + "You are here!")
    return 0


def _guest(state: State, vmid: str) -> dict[str, Any]:
    guest = state["guests"].get(vmid)
    if guest is None or guest["type"] != "lxc" or guest["node"] != state["node"]:
        no_config(state["node"], vmid)
    found: dict[str, Any] = guest
    return found


# ---------------------------------------------------------------- making


def _create(node: Node, vmid: str, words: list[str], options: Mapping[str, str]) -> int:
    if len(words) != 1:
        die(f"400 not enough arguments\n{_CREATE_USAGE}")
    if node.spend("vmid_race"):
        with node.changing() as state:
            state["guests"].setdefault(vmid, _foreign(state, vmid))
    state = node.read()
    if taken := _taken(state, vmid):
        die(taken)
    archive = _archive(node, state, words[0])
    storage, size = _rootfs(state, options)
    with node.changing() as state:
        if taken := _taken(state, vmid):
            die(f"unable to create CT {vmid} - {taken}")
        pool = state["storages"][storage]
        if pool["used"] >= pool["total"]:
            die(
                f"unable to create CT {vmid} - lvcreate 'pve/vm-{vmid}-disk-0' error:   Cannot create new "
                "thin volume, free space in thin pool pve/data reached threshold."
            )
        pool["used"] += 600 << 20
        state["guests"][vmid] = {
            "vmid": vmid,
            "type": "lxc",
            "node": state["node"],
            "status": "stopped",
            "lock": "create",
            "config": _conf(vmid, storage, size, options),
        }
    hostname = node.read()["guests"][vmid]["config"]["hostname"]
    _tell_creation(node, vmid, archive, size, hostname)
    inside.unpack(node, vmid, hostname)
    with node.changing() as state:
        del state["guests"][vmid]["lock"]
    return 0


def _taken(state: State, vmid: str) -> str | None:
    guest = state["guests"].get(vmid)
    if guest is None:
        return None
    kind = "VM" if guest["type"] == "qemu" else "CT"
    return f"{kind} {vmid} already exists on node '{guest['node']}'"


def _foreign(state: State, vmid: str) -> dict[str, Any]:
    conf = {"hostname": f"somebody-elses-{vmid}", "arch": _ARCH, "memory": "512"}
    return {"vmid": vmid, "type": "lxc", "node": state["node"], "status": "stopped", "config": conf}


def _archive(node: Node, state: State, volume: str) -> Path:
    storage, _, name = volume.partition(":vztmpl/")
    if storage not in state["storages"]:
        die(f"storage '{storage}' does not exist")
    archive = node.templates / name
    if not name or not archive.is_file():
        die(f"volume '{volume}' does not exist")
    return archive


def _rootfs(state: State, options: Mapping[str, str]) -> tuple[str, int]:
    value = options.get("rootfs") or f"{options.get('storage', 'local')}:4"
    storage, _, size = value.partition(":")
    if not size.isdigit():
        refuse("rootfs", "invalid format - format error\nrootfs.volume: invalid format", _CREATE_USAGE)
    if storage not in state["storages"]:
        die(f"storage '{storage}' does not exist")
    if "rootdir" not in state["storages"][storage]["content"]:
        refuse("storage", f"storage '{storage}' does not support container directories", _CREATE_USAGE)
    return storage, int(size)


def _conf(vmid: str, storage: str, size: int, options: Mapping[str, str]) -> dict[str, str]:
    conf = {
        "arch": _ARCH,
        "hostname": options.get("hostname", f"CT{vmid}"),
        "memory": options.get("memory", "512"),
        "ostype": "debian",
        "rootfs": f"{storage}:vm-{vmid}-disk-0,size={size}G",
        "swap": options.get("swap", "512"),
    }
    for key in ("cores", "features", "nameserver", "tags", "onboot", "unprivileged", "protection"):
        if key in options:
            conf[key] = options[key]
    if "description" in options:
        conf["description"] = options["description"].replace("%", "%25") + "%0A"
    if "net0" in options:
        mac = hashlib.sha256(vmid.encode()).hexdigest()[:6].upper()
        hwaddr = "BC:24:11:" + ":".join(mac[at : at + 2] for at in (0, 2, 4))
        conf["net0"] = f"{options['net0']},hwaddr={hwaddr},type=veth"
    return conf


def _tell_creation(node: Node, vmid: str, archive: Path, size: int, hostname: str) -> None:
    blocks = (size << 30) // _BLOCK
    print(f'  Logical volume "vm-{vmid}-disk-0" created.')
    print(f"Creating filesystem with {blocks} 4k blocks and {blocks // 4} inodes", flush=True)
    _hang(node, "create_hangs")
    print(f"extracting archive '/var/lib/vz/template/cache/{archive.name}'")
    print("Total bytes read: 521902080 (498MiB, 267MiB/s)")
    print(f"Detected container architecture: {_ARCH}")
    for kind in ("ed25519", "rsa", "ecdsa"):
        print(f"Creating SSH host key 'ssh_host_{kind}_key' - this may take some time ...")
        digest = hashlib.sha256(f"{vmid}{kind}".encode()).hexdigest()[:43]
        print(f"done: SHA256:{digest} root@{hostname}")


def _hang(node: Node, fault: str) -> None:
    """Wait for as many seconds as `fault` says, or until a test lets go on whatever hangs."""
    until = time.monotonic() + float(node.read()["faults"].get(fault, 0))
    while time.monotonic() < until and not node.goes_on.exists():
        time.sleep(0.02)


# ---------------------------------------------------------------- starting and stopping


def _start(node: Node, vmid: str, _words: list[str], _options: Mapping[str, str]) -> int:
    guest = _guest(node.read(), vmid)
    if guest["status"] == "running":
        die(f"CT {vmid} already running")
    _refuse_locked(guest)
    _hang(node, "start_hangs")
    if node.spend("start_fails"):
        sys.stderr.write(
            "run_buffer: 571 Script exited with status 1\n"
            f'lxc_init: 845 Failed to run lxc.hook.pre-start for container "{vmid}"\n'
            f'__lxc_start: 2034 Failed to initialize container "{vmid}"\n'
        )
        die(f"startup for container '{vmid}' failed")
    with node.changing() as state:
        state["guests"][vmid]["status"] = "running"
        state["guests"][vmid]["asked_for_address"] = 0
    inside.boot(node, vmid)
    return 0


def _stop(node: Node, vmid: str, _words: list[str], _options: Mapping[str, str]) -> int:
    guest = _guest(node.read(), vmid)
    if guest["status"] != "running":
        die(f"CT {vmid} not running")
    _refuse_locked(guest)
    if node.spend("stop_fails"):
        die("command 'lxc-stop -n " + vmid + " --kill' failed: exit code 1")
    node.kill(vmid)
    with node.changing() as state:
        state["guests"][vmid]["status"] = "stopped"
    return 0


def _refuse_locked(guest: Mapping[str, Any]) -> None:
    if "lock" in guest:
        die(f"CT is locked ({guest['lock']})")


def _unlock(node: Node, vmid: str, _words: list[str], _options: Mapping[str, str]) -> int:
    _guest(node.read(), vmid)
    with node.changing() as state:
        state["guests"][vmid].pop("lock", None)
    return 0


def _destroy(node: Node, vmid: str, _words: list[str], options: Mapping[str, str]) -> int:
    state = node.read()
    guest = _guest(state, vmid)
    if guest["config"].get("protection") == "1":
        die(f"can't remove CT {vmid} - protection mode enabled")
    _refuse_locked(guest)
    purge = options.get("purge", "0") == "1"
    if not purge and f"ct:{vmid}" in state["ha"]:
        die(f"unable to remove CT {vmid} - used in HA resources and purge parameter not set.")
    if guest["status"] == "running":
        if options.get("force", "0") != "1":
            die(f"unable to destroy CT {vmid} - container is running")
        sys.stderr.write(f"forced to stop CT {vmid} before destroying!\n")
        node.kill(vmid)
    with node.changing() as state:
        del state["guests"][vmid]
        if purge:
            state["ha"] = [one for one in state["ha"] if one != f"ct:{vmid}"]
    shutil.rmtree(node.root(vmid).parent, ignore_errors=True)
    if purge:
        print(f"purging CT {vmid} from related configurations..")
    print(f'  Logical volume "vm-{vmid}-disk-0" successfully removed.')
    return 0


# ---------------------------------------------------------------- inside


def _exec(node: Node, vmid: str, words: list[str]) -> int:
    guest = _guest(node.read(), vmid)
    command = words[1:] if words[:1] == ["--"] else words
    if not command:
        die("missing command")
    if guest["status"] != "running":
        die(f"container '{vmid}' not running!")
    root = node.root(vmid)
    os.chdir(root / "root")
    environment = inside.environment(node, vmid, keep=os.environ)
    sys.stdout.flush()
    try:
        os.execvpe(command[0], command, environment)
    except FileNotFoundError:
        where = f"lxc-attach: {vmid}: ../src/lxc/attach.c: lxc_attach_run_command: 1841"
        die(f'{where} No such file or directory - Failed to exec "{command[0]}"', code=127)


def _push(node: Node, vmid: str, words: list[str], options: Mapping[str, str]) -> int:
    guest = _guest(node.read(), vmid)
    if guest["status"] != "running":
        die("can only push files to a running CT")
    source, destination = Path(words[0]), node.root(vmid) / words[1].lstrip("/")
    if not source.is_file():
        die(f"failed to open {source} for reading")
    if not destination.parent.is_dir():
        die(f"failed to create file: {words[1]}: No such file or directory")
    destination.write_bytes(source.read_bytes())
    if "perms" in options:
        destination.chmod(int(options["perms"], 8))
    return 0


_COMMANDS: dict[str, Callable[[Node, str, list[str], Mapping[str, str]], int]] = {
    "list": _status,  # taken before, it names no container
    "exec": _status,  # likewise, its arguments are not its own
    "status": _status,
    "config": _config,
    "listsnapshot": _snapshots,
    "create": _create,
    "start": _start,
    "stop": _stop,
    "shutdown": _stop,
    "unlock": _unlock,
    "destroy": _destroy,
    "push": _push,
}
