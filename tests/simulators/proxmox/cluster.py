"""Simulations of `pvesh`, `pvesm`, `pveam`, `lxc-info` and `getent` of a node, as far as runbooks use them.

Messages and layout follow pve-manager (`PVE/CLI/pvesh.pm`, `PVE/CLI/pveam.pm`, `PVE/API2/Cluster.pm`),
pve-storage (`PVE/CLI/pvesm.pm`) and lxc's `lxc_info.c`. `pvesh` prints lists as JSON only, where the real one
draws a table too.

Faults: `download_dns` (the template server's name cannot be resolved), `network_after` (how often one has to
ask before the container has its address), `node_dns` (no name can be resolved on the node).
"""

# ruff: noqa: RET503, UP031 -- `die` never returns; the layouts are the format strings of the real programs

import json
import sys
from collections.abc import Sequence
from typing import Any

from options import parse
from state import Node, State, address
from words import die, refuse, warn_of_locale

_MIB = 1 << 20
_SERVER = "http://download.proxmox.com/images"


# ---------------------------------------------------------------- pvesh


def pvesh(node: Node, argv: Sequence[str]) -> int:
    """Answer `pvesh get PATH`."""
    warn_of_locale()
    words, options = parse(argv)
    if len(words) != 2 or words[0] != "get":
        die("simulation: only  pvesh get <path>  is here")
    state = node.read()
    data = _resource(state, "/" + words[1].strip("/"), options)
    form = options.get("output-format", "text")
    if isinstance(data, str):
        print(json.dumps(data) if form.startswith("json") else data)
    elif form == "text":
        die("simulation: lists come with --output-format json only")
    else:
        print(json.dumps(data, sort_keys=True, indent=3 if form == "json-pretty" else None))
    return 0


def _resource(state: State, path: str, options: dict[str, str]) -> Any:
    parts = path.split("/")[1:]
    match parts:
        case ["cluster", "nextid"]:
            return _next_id(state, options.get("vmid"))
        case ["cluster", "resources"]:
            return [_shown(one) for one in state["guests"].values()]
        case ["cluster", "ha", "resources"]:
            return [{"sid": one, "state": "started", "type": "ct"} for one in state["ha"]]
        case ["cluster", "backup"]:
            return state["backup_jobs"]
        case ["nodes", name, *_] if name not in {"localhost", state["node"]}:
            die(f"no such cluster node '{name}'")
        case ["nodes", _, "lxc"]:
            return [_shown(one) for one in state["guests"].values() if one["type"] == "lxc"]
        case ["nodes", _, "lxc", vmid, "status", "current"]:
            if vmid not in state["guests"]:
                die(f"Configuration file 'nodes/{state['node']}/lxc/{vmid}.conf' does not exist", code=2)
            return _shown(state["guests"][vmid])
        case _:
            die(f"No 'get' handler defined for '{path}'", code=1)


def _next_id(state: State, wanted: str | None) -> str:
    if wanted is not None:
        if wanted in state["guests"]:
            refuse(
                "vmid", f"VM {wanted} already exists", "pvesh get /cluster/nextid [OPTIONS] [FORMAT_OPTIONS]"
            )
        return wanted
    return next(str(one) for one in range(100, 1_000_000) if str(one) not in state["guests"])


def _shown(guest: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": f"{guest['type']}/{guest['vmid']}",
        "name": guest["config"]["hostname"],
        "node": guest["node"],
        "status": guest["status"],
        "type": guest["type"],
        "vmid": int(guest["vmid"]),
    }


# ---------------------------------------------------------------- pvesm


def pvesm(node: Node, argv: Sequence[str]) -> int:
    """Answer `pvesm status`."""
    warn_of_locale()
    words, options = parse(argv)
    if words != ["status"]:
        die("simulation: only  pvesm status  is here")
    storages = node.read()["storages"]
    if (wanted := options.get("storage")) is not None:
        if wanted not in storages:
            die(f"storage '{wanted}' does not exist")
        storages = {wanted: storages[wanted]}
    width = max(map(len, storages)) + 1
    print(
        "%-*s %10s %10s %15s %15s %15s %8s"
        % (width, "Name", "Type", "Status", "Total", "Used", "Available", "%")
    )
    for name, one in sorted(storages.items()):
        total, used = one["total"], one["used"]
        sizes = (total >> 10, used >> 10, (total - used) >> 10, used * 100 / total)
        print("%-*s %10s %10s %15d %15d %15d % 7.2f%%" % (width, name, one["type"], "active", *sizes))
    return 0


# ---------------------------------------------------------------- pveam


def pveam(node: Node, argv: Sequence[str]) -> int:
    """Answer `pveam available`, `list` and `download`."""
    warn_of_locale()
    words, options = parse(argv)
    state = node.read()
    match words:
        case ["available"]:
            for section, names in sorted(state["catalogue"].items()):
                if options.get("section") in {None, section}:
                    for name in sorted(names):
                        print("%-15s %s" % (section, name))
            return 0
        case ["list", storage]:
            _needs_templates(state, storage)
            print("%-60s %-6s" % ("NAME", "SIZE"))
            for file in sorted(node.templates.iterdir()):
                print("%-60s %-4.2fMB" % (f"{storage}:vztmpl/{file.name}", 123 * _MIB / _MIB))
            return 0
        case ["download", storage, name]:
            return _download(node, state, storage, name)
        case _:
            die(f"ERROR: unknown command 'pveam {' '.join(words)}'")


def _needs_templates(state: State, storage: str) -> None:
    if storage not in state["storages"]:
        die(f"storage '{storage}' does not exist")
    if "vztmpl" not in state["storages"][storage]["content"]:
        die("Storage does not support templates!")


def _download(node: Node, state: State, storage: str, name: str) -> int:
    _needs_templates(state, storage)
    section = next((one for one, names in state["catalogue"].items() if name in names), None)
    if section is None:
        refuse("template", "no such template", "pveam download <storage> <template>")
    target = f"/var/lib/vz/template/cache/{name}"
    if (node.templates / name).is_file():
        print(f"{target} already exists; no need to download")
        return 0
    print(f"downloading {_SERVER}/{section}/{name} to {target}", flush=True)
    if node.spend("download_dns"):
        host = _SERVER.removeprefix("http://").partition("/")[0]
        sys.stderr.write(f"wget: unable to resolve host address '{host}'\n")
        die(
            f"download failed: command '/usr/bin/wget -O {target}.tmp {_SERVER}/{section}/{name}' failed: "
            "exit code 4"
        )
    (node.templates / name).write_bytes(b"a template\n")
    print("calculating checksum...OK, checksum verified")
    print(f"download of '{_SERVER}/{section}/{name}' to '{target}' finished")
    return 0


# ---------------------------------------------------------------- lxc-info and getent


def getent(node: Node, argv: Sequence[str]) -> int:
    """Resolve a name on the node itself, as far as this world has names."""
    state = node.read()
    if state["faults"].get("node_dns") or argv[-1] not in state["upstream"]:
        return 2
    print(f"151.101.2.132   {argv[-1]}")
    return 0


def lxc_info(node: Node, argv: Sequence[str]) -> int:
    """Answer `lxc-info -n VMID -iH`: the addresses of a container, one a line, nothing before it has one."""
    if len(argv) != 3 or argv[0] != "-n" or set(argv[2]) != set("-iH"):
        die("simulation: only  lxc-info -n <vmid> -iH  is here")
    vmid = argv[1]
    with node.changing() as state:
        guest = state["guests"].get(vmid)
        if guest is None:
            die(f"{vmid} doesn't exist", code=1)
        if guest["status"] != "running":
            return 0
        guest["asked_for_address"] = guest.get("asked_for_address", 0) + 1
        if guest["asked_for_address"] <= state["faults"].get("network_after", 0):
            return 0
    print(address(vmid))
    return 0
