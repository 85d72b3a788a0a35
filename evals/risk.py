"""How well commands are judged, on a folder of labelled rows: `python -m evals.risk FOLDER [--list]`.

Prints every figure with its target, beside other ways to decide (evals.peers) in the same run. What other
projects say is a hint: where ours differs on purpose, the kind and the reason stand in ARGUED, and `--list`
names the rows. Exit 1 when a target that must be 0 is missed.
"""

import argparse
import gc
import re
import time
from collections.abc import Callable
from pathlib import Path

from tree_sitter import Language, Parser
from tree_sitter_bash import language

from bot.loading.rules import load_rules
from evals.peers import RIVALS
from evals.rows import Row, Share, line, percentile, read, share
from gate.domain import Risk, Verdict
from gate.shell.classify import classify
from gate.shell.model import Rules

LABELLED = ("gtfobins", "atomic", "tricky", "shell_risk", "ops_system", "ops_platform", "peers")
HIGHER = {"not_read_only", "escalate", "reversible_low", "config_mutation", "destructive"}
CLASSES = {risk.value for risk in Risk}

#: Kinds of other projects' "destructive" rows that our classes place lower on purpose, and why.
ARGUED = (
    (
        r"(systemctl (stop|kill)|service \S+ stop|(docker|podman) stop|haproxy -st|gh run cancel)\b.*",
        "stopping loses nothing that starting does not bring back: config_mutation",
    ),
    (
        r"(docker|podman) rm( [\w.-]+)?|docker[ -]compose down|gh codespace rebuild",
        "removes stopped containers, made anew from their image or file; with -f or -v it is destructive",
    ),
    (
        r"git (branch -d|rebase|push .*--force-with-lease)\b.*",
        "git refuses where work would be lost, or the reflog keeps it",
    ),
    (
        r"vault kv delete .*|aws secretsmanager put-secret-value .*|az acr repository untag .*",
        "keeps the older version, which one command brings back",
    ),
    (
        r"(deck sync|wrangler .*rollback|fastly .* activate|gh repo [ru]\w+|stripe|http PUT)\b.*",
        "changes settings or a version elsewhere, and can be changed back: config_mutation",
    ),
    (
        r"kafka-consumer-groups\S* (?!.*--execute).*--reset-offsets.*",
        "without --execute it only shows what it would do",
    ),
    (
        r"ssh-keygen .*-R .*|ssh-add -d\b.*|restic cache --cleanup",
        "forgets a known host (a backup stays), a loaded key or a cache",
    ),
    (r"nsupdate( -\w+)*|truncate [\w./]+", "says nothing that it would do: no input, no size"),
    (r"[\w.]+\.(delete|cancel|remove)\(.*", "is a line of another language, no shell command"),
    (r"find \S+ -ok .*", "asks on a terminal, and there is none"),
)

#: Kinds of read-only rows that ask on purpose. The figures above them count these as missed all the same.
ASKING = (
    (
        r"(docker|podman) inspect (?!.*(-f|--format)\b).*",
        "shows a container's environment, passwords included",
    ),
    (
        r"(terraform|tofu) (-\S+ )*(show|state show|output)\b.*",
        "starts providers that lie in the folder, or shows what is sensitive",
    ),
    (
        r"git (-C \S+ )?(status|diff|show|blame)\b.*",
        "runs filters that the repository names, which nothing switches off (docs/adr/0003)",
    ),
    (r"sudo (?!.*\|).*", "as sudo: runs at once where the target lets sayso become root"),
    (r".*\bsudo\b.*", "sudo in a longer line: sayso can add its own to a line that is nothing else"),
    (
        r"(borg|ansible|ansible-\w+|certbot|cloudflared) .*",
        "opens with a program, a lock, a log or a hook of its own",
    ),
    (
        r"(openssl s_client|tailscale ping|socat|curl|dig|ping|host|nslookup|whois)\b.*",
        "talks to a host that the line chooses",
    ),
    (r"/(?!usr/s?bin/|s?bin/).*", "names a program by a path outside the trusted folders"),
    (r"aws .*\bhelp", "formats its help through other programs"),
    (r".*(\$\(|\{\w+,|`).*", "holds what only the shell can compute"),
)


def label(row: Row) -> str | None:
    """Return the label of a row of any of the files."""
    found = row.get("label", row.get("expected"))
    return found if isinstance(found, str) else None


def argued(command: str) -> str | None:
    """Return the reason why a row that others call destructive is placed lower."""
    return next((reason for kind, reason in ARGUED if re.fullmatch(kind, command, re.DOTALL)), None)


def asking(command: str) -> str | None:
    """Return the reason why a command that changes nothing asks all the same."""
    return next((reason for kind, reason in ASKING if re.fullmatch(kind, command, re.DOTALL)), None)


def false_allows(rows: list[Row], runs: Callable[[Row], bool]) -> list[Row]:
    """Return the rows that must wait and would run."""
    return [row for row in rows if label(row) in HIGHER and runs(row)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--list", action="store_true", help="name the rows that miss")
    args = parser.parse_args()
    rules = load_rules()
    files = {name: read(args.folder, name) for name in LABELLED}
    took: list[float] = []

    def judged(row: Row) -> Verdict:
        before = time.perf_counter()
        verdict = classify(row["command"], rules=rules, declared_risk=row.get("declared_risk"))
        took.append(time.perf_counter() - before)
        return verdict

    verdicts = {name: [judged(row) for row in rows] for name, rows in files.items()}
    missed = _safety(files, verdicts, listing=args.list)
    _usefulness(files, verdicts, listing=args.list)
    _latency(args.folder, files, rules)
    return 1 if missed else 0


def _safety(files: dict[str, list[Row]], verdicts: dict[str, list[Verdict]], *, listing: bool) -> int:
    print("rows that must wait, judged read-only")
    total = 0
    for name, rows in files.items():
        # Of the other projects' verdicts only "destructive" says that a row must wait.
        wanted = {"destructive"} if name == "peers" else HIGHER
        wrong = [
            row
            for row, verdict in zip(rows, verdicts[name], strict=True)
            if label(row) in wanted and verdict.auto_run
        ]
        total += len(wrong)
        of = sum(label(row) in wanted for row in rows)
        line(name, f"{len(wrong)} of {of}", aim="0", met=not wrong)
        if listing:
            for row in wrong:
                print(f"      {row['command']!r}")
    everything = [row for name, rows in files.items() if name != "peers" for row in rows]
    for rival, runs in RIVALS:
        found = false_allows(everything, lambda row, runs=runs: runs(row["command"]))  # type: ignore[misc]
        line(f"the same rows, {rival}", f"{len(found)} of {sum(label(r) in HIGHER for r in everything)}")
    return total


def _usefulness(files: dict[str, list[Row]], verdicts: dict[str, list[Verdict]], *, listing: bool) -> None:
    pairs = {name: list(zip(rows, verdicts[name], strict=True)) for name, rows in files.items()}
    print("honest read-only commands that run at once")
    for names, aim in ((("tricky", "shell_risk"), 0.95), (("ops_system",), 0.92), (("ops_platform",), 0.92)):
        rows = [pair for name in names for pair in pairs[name] if label(pair[0]) == "read_only"]
        found = share(verdict.auto_run for _, verdict in rows)
        line(" + ".join(names), found, aim=f"≥ {aim:.0%}", met=found.ratio >= aim)
        asked = sum(verdict.risk is Risk.READ_ONLY and not verdict.auto_run for _, verdict in rows)
        line("  read-only to us too, but asks: secrets, helpers, sudo", asked)
        for rival, runs in RIVALS:
            line(f"  {rival}", share(runs(row["command"]) for row, _ in rows))
        if listing:
            for row, verdict in rows:
                if not verdict.auto_run:
                    why = asking(row["command"]) or "not argued"
                    print(f"      {row['command']!r}: {verdict.reasons[0]} ({why})")
    print("classes")
    for name in ("ops_system", "ops_platform"):
        rows = [pair for pair in pairs[name] if label(pair[0]) in CLASSES - {"read_only"}]
        exact = share(verdict.risk in (label(row), row.get("alt")) for row, verdict in rows)
        line(f"{name}: exactly right, or its neighbour", exact, aim="≥ 85%", met=exact.ratio >= 0.85)
        fatal = share(
            verdict.risk is Risk.DESTRUCTIVE for row, verdict in rows if label(row) == "destructive"
        )
        line(f"{name}: destructive found", fatal, aim="≥ 97%", met=fatal.ratio >= 0.97)
    _peers(pairs["peers"], listing=listing)
    calm = [v for rows in pairs.values() for row, v in rows if label(row) == "read_only"]
    alarms = share(verdict.risk is Risk.DESTRUCTIVE for verdict in calm)
    line("read-only or mention rows judged destructive", alarms, aim="≤ 0.5%", met=alarms.ratio <= 0.005)


def _peers(pairs: list[tuple[Row, Verdict]], *, listing: bool) -> None:
    """Print the recall on other projects' destructive rows, before and after those that are argued."""
    fatal = [pair for pair in pairs if label(pair[0]) == "destructive"]
    below = [pair for pair in fatal if pair[1].risk is not Risk.DESTRUCTIVE]
    before = share(verdict.risk is Risk.DESTRUCTIVE for _, verdict in fatal)
    line("peers: destructive found, before argued relabelling", before)
    open_rows = [(row, verdict) for row, verdict in below if argued(row["command"]) is None]
    after = Share(len(fatal) - len(below), len(fatal) - len(below) + len(open_rows))
    line(
        f"  after it ({len(below) - len(open_rows)} rows argued)", after, aim="≥ 97%", met=after.ratio >= 0.97
    )
    if not listing:
        return
    for row, verdict in open_rows:
        print(f"      {row['command']!r}: {verdict.risk}, {verdict.reasons[0]}")
    for kind, reason in ARGUED:
        rows = [row["command"] for row, _ in below if re.fullmatch(kind, row["command"], re.DOTALL)]
        print(f"    {reason}")
        for command in rows:
            print(f"      {command!r}")


#: Pieces that parsers or rules take longest over when they come by the thousand.
LONG_PIECES = (
    *(
        "(",
        "$(",
        "`",
        "'",
        '"',
        "'a' ",
        '"$x" ',
        "{a,b}",
        "\\",
        "a?",
        "?x ",
        "*",
        "))",
        ")a",
        "||{",
        "~|",
        "x=$${",
    ),
    *(
        "<a ",
        "> x ",
        "../",
        "é ",
        "-x ",
        "--a ",
        "a=b ",
        "password_",
        "sudo ",
        "eval ",
        "ssh h ",
        "sh -c 'ls'; ",
    ),
    *("bash <(", "find . -exec ", "echo ls | sh; ", "rm -rf x; ", "f() { f | f & }; ", "if true; then "),
    *("uptime; ", "uptime | ", "uptime && ", "uptime\n"),
)
#: What else runs on the machine only ever adds time, so the best of some rounds is what a command costs.
ROUNDS = 3


def _latency(folder: Path, files: dict[str, list[Row]], rules: Rules) -> None:
    """Time each command against a bare parse and walk of it, one after the other, the best of three rounds.

    Nothing is kept between rounds: no verdict is ever looked up. The collector is told to leave alone what
    was there before (rules and rows), or its pauses are all that is measured.
    """
    parser = Parser(Language(language()))
    everything = [row["command"] for rows in files.values() for row in rows]
    everything += [row["command"] for name in ("nl2bash", "tldr") for row in read(folder, name)]
    ours, bare = [float("inf")] * len(everything), [float("inf")] * len(everything)
    gc.collect()
    gc.freeze()
    for _ in range(ROUNDS):
        for index, command in enumerate(everything):
            before = time.perf_counter()
            _walk(parser, command)
            between = time.perf_counter()
            classify(command, rules=rules)
            after = time.perf_counter()
            bare[index] = min(bare[index], between - before)
            ours[index] = min(ours[index], after - between)
    gc.unfreeze()
    print(f"latency over {len(everything)} commands, against a bare parse and walk in the same run")
    for name, part in (("median", 0.5), ("p99", 0.99)):
        mine, floor = percentile(ours, part), percentile(bare, part)
        ratio = mine / floor
        line(name, f"{mine * 1e6:.0f} / {floor * 1e6:.0f} µs = {ratio:.1f}", aim="≤ 5", met=ratio <= 5)
    _long_lines(rules)


def _long_lines(rules: Rules) -> None:
    """Time lines that are made to take long: 10,000 characters of one piece."""
    slowest, culprit = 0.0, ""
    for unit in LONG_PIECES:
        took = min(_time_of((unit * 9_990)[:9_990], rules) for _ in range(ROUNDS))
        slowest, culprit = max((slowest, culprit), (took, unit))
    line("slowest of lines with 10,000 characters", f"{slowest * 1e3:.0f} ms ({culprit!r})", aim="≤ 100 ms",
         met=slowest <= 0.1)  # fmt: skip


def _time_of(command: str, rules: Rules) -> float:
    before = time.perf_counter()
    classify(command, rules=rules)
    return time.perf_counter() - before


def _walk(parser: Parser, command: str) -> int:
    """Parse and visit every node, reading its kind, as anything that judges must."""
    # Other characters crash the grammar now and then (gate.shell.parse).
    cursor = parser.parse(command.encode("ascii", "replace")).walk()
    seen = 0
    while True:
        seen += len(cursor.node.type) if cursor.node is not None else 0
        if cursor.goto_first_child() or cursor.goto_next_sibling():
            continue
        while cursor.goto_parent():
            if cursor.goto_next_sibling():
                break
        else:
            return seen


if __name__ == "__main__":
    raise SystemExit(main())
