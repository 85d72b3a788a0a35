"""The conversations of the campaign, as data.

`{w}` is the file that every effect leaves one line in, `{dir}` the cycle's folder, `{id}` the newest
proposal, `{phrase}` the phrase that is asked for; a line whose words do not exist at that point is left out.
A line that starts with "& " is said without waiting for the end of what it starts. Every effect has a tag of
its own, so that a line of the witness belongs to one action.
"""

from collections.abc import Mapping


def mark(tag: str, target: str = "local") -> str:
    """Return a request that leaves one line."""
    return f"run sh -c 'echo {tag} >> {{w}}' on {target}"


SCRIPTS: Mapping[str, tuple[str, ...]] = {
    "yes": ("run uptime on local", mark("y1"), "maybe later", "go ahead", "go ahead"),
    "list": (f"{mark('a1')}\n{mark('a2', 'web1')}", "go ahead", mark("a3"), "yes, run it"),
    "mixed": (
        "run uptime on local\n" + mark("m1") + "\nrun rm -r {dir}/victim && echo m2 >> {w} on local",
        "go ahead",
        "{phrase}",
    ),
    "phrase": ("run rm -r {dir}/victim && echo p1 >> {w} on local", "yes", "{phrase}", "{phrase}"),
    "verify": (
        "run sh -c 'echo v1 >> {w}; echo seen' on local then verify `test -s {w}`\n" + mark("v2", "web1"),
        "go ahead",
        "run sh -c 'echo v3 >> {w}' on local then verify `test -d {w}`\n" + mark("v4", "web1"),
        "go ahead",
    ),
    "fails": (f"run sh -c 'echo f1 >> {{w}}; exit 3' on local\n{mark('f2')}", "go ahead", "go ahead"),
    "long": (
        "run sh -c 'echo l1 >> {w}; sleep 0.15; echo l2 >> {w}' on local",
        "& go ahead",
        "& " + mark("l3"),
        "& approve {id}",
        "run uptime on local",
    ),
    "stop": (mark("s1"), "stop", "approve {id}", "uptime on local", "resume", "resume sayso"),
    "ahead": (
        mark("h1"),
        "& go ahead",
        "& stop",
        "& " + mark("h2"),
        "resume",
        "resume sayso",
        "approve {id}",
    ),
    "ends": (mark("e1"), "no", "the backup runs", mark("e2"), "cancel {id}", "again {id}", "go ahead"),
}
