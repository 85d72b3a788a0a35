"""The other programs of a simulated machine, as far as the starter runbooks call them.

journalctl, systemd-run and timedatectl speak as those of Debian 12 do. ps, free and vmstat show
what a test says is so, since no test can make a machine short of memory.
"""

import sys

from state import Machine, full, parsed, print_log


def journalctl(machine: Machine, argv: list[str]) -> int:
    """Play journalctl; times are not kept, so `--since` takes everything."""
    _, options = parsed(argv, takes=("-u", "-p", "-o", "-g", "-n", "--since"))
    said = {name: values[0] for name, values in options.items()}
    if "--disk-usage" in said or "--vacuum-size" in said:
        import logs  # noqa: PLC0415 -- few calls need it, and it takes longer to load than all else

        return logs.vacuum(said["--vacuum-size"]) if "--vacuum-size" in said else logs.disk_usage()
    unit = "kernel" if "-k" in said else full(said["-u"]) if "-u" in said else ""
    found = [
        one
        for one in machine.state["journal"]
        if (not unit or one["unit"] == unit)
        and said.get("-p", one["priority"]) == one["priority"]
        and ("-g" not in said or any(word in one["text"].lower() for word in said["-g"].lower().split("|")))
    ][-int(said.get("-n", "1000")) :]
    if not found and "-q" not in said:
        print("-- No entries --")
    print_log(found, bare=said.get("-o") == "cat")
    return 1 if "-g" in said and not found else 0


def systemd_run(machine: Machine, argv: list[str]) -> int:
    """Play systemd-run with a timer: it keeps the command, which a test may run when the time is over."""
    options = [word for word in argv if word.startswith("--")]
    unit = next(one.split("=")[1] for one in options if one.startswith("--unit="))
    if f"{unit}.timer" in machine.state["armed"]:
        print(
            f"Failed to start transient timer unit: Unit {unit}.timer was already loaded or has a "
            "fragment file.",
            file=sys.stderr,
        )
        return 1
    machine.state["armed"][f"{unit}.timer"] = list(argv[len(options) :])
    print(f"Running timer as unit: {unit}.timer\nWill run service as unit: {unit}.service", file=sys.stderr)
    return 0


def timedatectl(machine: Machine, argv: list[str]) -> int:
    """Play timedatectl."""
    clock = machine.state["clock"]
    if argv[0] == "set-ntp":
        if not clock["can"]:
            print("Failed to set ntp: NTP not supported", file=sys.stderr)
            return 1
        clock["ntp"] = argv[1] == "true"
        return 0
    if clock["ntp"] and clock["asked"]:
        clock["after"] -= 1
    words = {True: "yes", False: "no"}
    values = {
        "Timezone": "Etc/UTC",
        "NTP": words[clock["ntp"]],
        "CanNTP": words[clock["can"]],
        "NTPSynchronized": words[clock["ntp"] and clock["after"] <= 0],
        "TimeUSec": "Mon 2026-03-02 14:00:00 UTC",
    }
    for at, word in enumerate(argv):
        if word == "-p":
            print(values[argv[at + 1]] if "--value" in argv else f"{argv[at + 1]}={values[argv[at + 1]]}")
    return 0


def ps(machine: Machine, argv: list[str]) -> int:
    """Play `ps -eo …` for a table of processes that the test gives, each a mapping of column to value."""
    columns = [name.rstrip("=") for name in argv[1].split(",")]
    if not all(name.endswith("=") for name in argv[1].split(",")):
        print(" ".join(name.upper() for name in columns))
    key = next((word.split("=-")[1] for word in argv if word.startswith("--sort=-")), columns[0])
    for one in sorted(machine.state["processes"], key=lambda one: -float(one[key])):
        print(" ".join(str(one.get(name, "-")) for name in columns))
    return 0


def free(machine: Machine, _argv: list[str]) -> int:
    """Play `free`: of the available memory each look at it takes the next value of a list."""
    left = machine.state["available"]
    available = left.pop(0) if len(left) > 1 else left[0]
    print("               total        used        free      shared  buff/cache   available")
    print(f"Mem:         1000000      {1000000 - available * 10000} 1000 0 1000 {available * 10000}")
    print("Swap:        {}        {}        {}".format(*machine.state["swap"]))
    return 0


def vmstat(machine: Machine, _argv: list[str]) -> int:
    """Play `vmstat 1 2` with what moves in and out of swap."""
    moving = machine.state["moving"]
    print("procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----")
    print(" r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st")
    for part in (0, moving):
        print(f" 1  0 1 1 1 1 {part} {part} 0 0 0 0 0 0 100 0 0")
    return 0
