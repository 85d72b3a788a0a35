"""systemctl, as far as the starter runbooks call it: words, layout and exit codes of systemd 252."""

import os
import sys

from state import UNKNOWN, Machine, failed, full, parsed, print_log

Options = dict[str, list[str]]


def systemctl(machine: Machine, argv: list[str]) -> int:
    """Play systemctl."""
    words, options = parsed(argv, takes=("-p",))
    verb = words[0] if words else "list-units"
    if verb in _ON_ONE:
        return _ON_ONE[verb](machine, words[1], options)
    return _ON_ALL[verb](machine, options) if verb in _ON_ALL else UNKNOWN


def _show(machine: Machine, name: str, options: Options) -> int:
    unit = machine.unit(name) or {"load": "not-found", "active": "inactive", "sub": "dead", "restarts": 0}
    values = {
        "LoadState": unit["load"],
        "ActiveState": unit["active"],
        "SubState": unit["sub"],
        "Result": unit.get("result", "success"),
        "NRestarts": unit["restarts"],
        "ExecMainStatus": unit.get("status", 0),
        "MemoryCurrent": "[not set]",
        "ActiveEnterTimestamp": "Mon 2026-03-02 13:00:00 UTC" if unit["active"] == "active" else "",
    }
    for wanted in options["-p"]:
        print(values[wanted] if "--value" in options else f"{wanted}={values[wanted]}")
    return 0


def _is_active(machine: Machine, name: str, _options: Options) -> int:
    unit = machine.unit(name)
    state = unit["active"] if unit else "active" if full(name) in machine.state["armed"] else "inactive"
    if unit is not None and state == "activating":
        unit["slow"] -= 1
        if unit["slow"] <= 0:
            unit.update(active="active", sub="running")
    print(state)
    return 0 if state == "active" else 3


def _is_enabled(machine: Machine, name: str, _options: Options) -> int:
    unit = machine.unit(name)
    if unit is None:
        print(f"Failed to get unit file state for {full(name)}: No such file or directory", file=sys.stderr)
        return 1
    print(unit.get("enabled", "enabled"))
    return 0 if unit.get("enabled", "enabled") == "enabled" else 1


def _restart(machine: Machine, name: str, _options: Options) -> int:
    unit = machine.unit(name)
    if unit is None:
        print(f"Failed to restart {full(name)}: Unit {full(name)} not found.", file=sys.stderr)
        return 5
    machine.state["started"].append(full(name))
    unit["restarts"] = unit.get("flaps", 0)
    hook = unit.get("hook")
    if unit.get("fails", 0) or (hook and os.system(hook)):
        unit["fails"] = max(0, unit.get("fails", 0) - 1)
        unit.update(active="failed", sub="failed", result="exit-code", status=1)
        machine.log(name, f"{full(name)}: Main process exited, code=exited, status=1/FAILURE", "err")
        print(
            f"Job for {full(name)} failed because the control process exited with error code.\n"
            f'See "systemctl status {full(name)}" and "journalctl -xeu {full(name)}" for details.',
            file=sys.stderr,
        )
        return 1
    state = "activating" if unit.get("slow", 0) else "inactive" if unit.get("oneshot") else "active"
    unit.update(active=state, sub={"active": "running", "inactive": "dead"}.get(state, "start"))
    unit.update(result="success", status=0)
    if unit.get("dies"):
        unit.update(active="failed", sub="failed", result="exit-code", status=1)
        machine.log(name, f"{full(name)}: Failed with result 'exit-code'.", "err")
    if full(name) == "systemd-timesyncd.service":
        machine.state["clock"]["asked"] = True
    return 0


def _stop(machine: Machine, name: str, _options: Options) -> int:
    if machine.unit(name) is None and full(name) not in machine.state["armed"]:
        print(f"Failed to stop {full(name)}: Unit {full(name)} not loaded.", file=sys.stderr)
        return 5
    machine.state["armed"].pop(full(name), None)
    if (unit := machine.unit(name)) is not None:
        unit.update(active="inactive", sub="dead")
    return 0


def _reset_failed(machine: Machine, name: str, _options: Options) -> int:
    unit = machine.unit(name)
    if unit is None:
        print(
            f"Failed to reset failed state of unit {full(name)}: Unit {full(name)} not loaded.",
            file=sys.stderr,
        )
        return 1
    if unit["active"] == "failed":
        unit.update(active="inactive", sub="dead", result="success")
    return 0


def _list_units(machine: Machine, options: Options) -> int:
    if "--failed" not in options:
        return UNKNOWN
    kinds = tuple(f".{kind}" for kind in ",".join(options.get("--type", [])).split(",") if kind)
    found = [name for name in failed(machine) if not kinds or name.endswith(kinds)]
    if "--no-legend" not in options:
        print("  UNIT LOAD ACTIVE SUB DESCRIPTION")
    for name in found:
        bullet = "" if "--plain" in options else "● "
        print(f"{bullet}{name} loaded failed failed {machine.state['units'][name]['description']}")
    if "--no-legend" not in options:
        print(f"{len(found)} loaded units listed.")
    return 0


def _status(machine: Machine, options: Options) -> int:
    if options.get("--state") != ["failed"]:
        return UNKNOWN
    for name in failed(machine):
        unit = machine.state["units"][name]
        print(
            f"× {name} - {unit['description']}\n     Loaded: loaded\n"
            "     Active: failed (Result: exit-code)\n"
        )
        lines = int(options.get("--lines", ["10"])[0])
        print_log([one for one in machine.state["journal"] if one["unit"] == name][-lines:])
    return 0


def _list_timers(machine: Machine, _options: Options) -> int:
    print("NEXT LEFT LAST PASSED UNIT ACTIVATES")
    names = [name for name in machine.state["units"] if name.endswith(".timer")]
    for name in names:
        print(f"Tue 2026-03-03 00:00:00 UTC 9h left - - {name} {name.removesuffix('.timer')}.service")
    print(f"\n{len(names)} timers listed.")
    return 0


_ON_ONE = {
    "show": _show,
    "is-active": _is_active,
    "is-enabled": _is_enabled,
    "restart": _restart,
    "reload-or-restart": _restart,
    "stop": _stop,
    "reset-failed": _reset_failed,
}
_ON_ALL = {"list-units": _list_units, "status": _status, "list-timers": _list_timers}
