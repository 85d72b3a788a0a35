"""Whether commands judged read-only really have no effect: `python -m evals.effects FOLDER ORACLE`.

Judges every row of nl2bash and tldr, hands the read-only claims to an effect oracle (a program that runs
each command in a traced sandbox) and prints what it saw. Three kinds stand apart: effects that only reach a
daemon, since none answers there; those that only a planted trap causes, which is code execution in a
hostile folder; and client reads (docs/risk.md), where a client asks the server it is configured for and
keeps a folder of its own. The last are effects to the oracle, and printed as such. Exit 1 when any other
claim had an effect.
"""

import argparse
import hashlib
import json
import math
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from bot.loading.rules import load_rules
from evals.rows import Row, Share, line, read, share
from gate.shell.classify import classify

#: Shown in the table of what is plain: no expansion, substitution, assignment, wrapper or redirect.
NOT_PLAIN = set("$`<>(){}*?[]~=\\") | {"\n"}
#: Single quotes hold anything; double quotes count as plain only where nothing in them expands.
QUOTED = re.compile(r"'[^']*'|\"[^\"$`\\]*\"")
WRAPPERS = {"sudo", "env", "time", "xargs", "nohup", "nice", "timeout", "watch", "sh", "bash", "eval", "exec"}

#: Kinds of client reads: whose, what the oracle may see of it and nothing else, and why it runs unasked.
CLIENT_READS = (
    (
        {"kubectl", "helm"},
        r"net (connect|sendto) .*",
        "asks the cluster of the account's own settings, which changes nothing there",
    ),
    (
        {"gcloud", "gsutil", "bq", "az", "aws"},
        r"net (connect|sendto) .*|fs (mkdir|open|create|write) /home/user/\.(config/gcloud|azure|aws)(/.*)?",
        "asks the cloud of the account's own settings, and makes its settings folder on the first run",
    ),
    (
        {"tmux", "screen"},
        r"fs mkdir /(tmp|run|var/run)/(tmux|screens?)[\w/-]*|daemon connect .*",
        "asks the server of the account's own sessions, and makes the folder of its socket",
    ),
)


def client_read(one: Row) -> str | None:
    """Return the reason why an effect is a client's, and nothing but that."""
    for programs, seen, reason in CLIENT_READS:
        if one["command"].split()[0] in programs and all(re.fullmatch(seen, text) for text in one["effects"]):
            return reason
    return None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("oracle", type=Path, help="effect_oracle.py")
    parser.add_argument(
        "--sample", type=int, default=0, help="only this many of each file, at random; 0 for all"
    )
    parser.add_argument(
        "--verdicts", type=Path, help="what the oracle said before; what it says now is added"
    )
    parser.add_argument(
        "--clean", action="store_true", help="also run what was not claimed, for the recall figure"
    )
    parser.add_argument("--list", action="store_true", help="name the claims that had an effect")
    args = parser.parse_args()
    rules = load_rules()
    oracle = Oracle(args.oracle, args.verdicts)
    rows = {name: read(args.folder, name) for name in ("nl2bash", "tldr")}
    bad = 0
    for name, commands in rows.items():
        texts = list(dict.fromkeys(row["command"] for row in commands))
        claims = [text for text in texts if classify(text, rules=rules).auto_run]
        print(f"{name}: {len(claims)} of {len(texts)} commands judged read-only")
        bad += _claims(_drawn(claims, args.sample), oracle, listing=args.list)
        if args.clean and name == "nl2bash":
            drawn = _drawn(texts, args.sample)
            _recall(drawn, set(claims), oracle, all_of_them=drawn is texts, listing=args.list)
    return 1 if bad else 0


def _drawn(texts: list[str], count: int) -> list[str]:
    """Return so many of them at random, in their order; all of them for 0."""
    if not count or count >= len(texts):
        return texts
    return [texts[at] for at in sorted(random.Random(1).sample(range(len(texts)), count))]


class Oracle:
    """The effect oracle, and what it said of each command; kept in a file where one is given.

    A file that was written by another version of the oracle counts for nothing and is begun anew.
    """

    #: Commands of one run: what is lost when it is broken off.
    AT_ONCE = 400

    def __init__(self, program: Path, kept: Path | None) -> None:
        self.program = program
        self.kept = kept
        sources = sorted(program.parent.glob("*.py"))
        self.version = hashlib.sha256(b"".join(file.read_bytes() for file in sources)).hexdigest()
        self.said: dict[str, Row] = {}
        if kept is not None and kept.exists():
            begun, *lines = kept.read_text().splitlines() or [""]
            if begun == self.version:
                self.said = {one["command"]: one for one in map(json.loads, lines)}

    def judge(self, commands: list[str]) -> list[Row]:
        """Return the oracle's verdict on each command, in order."""
        todo = [one for one in dict.fromkeys(commands) if one not in self.said]
        for start in range(0, len(todo), self.AT_ONCE):
            self.said |= {one["command"]: one for one in self._run(todo[start : start + self.AT_ONCE])}
            if self.kept is not None:
                lines = [self.version, *(json.dumps(one) for one in self.said.values())]
                self.kept.write_text("".join(f"{text}\n" for text in lines))
        return [self.said[one] for one in commands]

    def _run(self, commands: list[str]) -> list[Row]:
        with tempfile.TemporaryDirectory() as folder:
            given, told = Path(folder) / "commands.jsonl", Path(folder) / "verdicts.jsonl"
            given.write_text("".join(json.dumps({"command": one}) + "\n" for one in commands))
            # A folder of its own, so that two runs beside each other do not meet.
            told_where = ["--out", str(told), "--workdir", str(Path(folder) / "work")]
            program = [sys.executable, str(self.program), str(given), *told_where]
            done = subprocess.run(program, check=False, capture_output=True, text=True)
            if done.returncode not in (0, 1):
                raise SystemExit(f"the oracle cannot run here: {done.stderr[-400:]}")
            return [json.loads(text) for text in told.read_text().splitlines()]


def interval(found: Share) -> str:
    """Return the 95 % interval (Wilson) of a share that was drawn at random."""
    if not found.of:
        return ""
    count, spread = found.of, 1.96
    middle = (found.ratio + spread**2 / (2 * count)) / (1 + spread**2 / count)
    inner = found.ratio * (1 - found.ratio) / count + spread**2 / (4 * count**2)
    reach = spread * math.sqrt(inner) / (1 + spread**2 / count)
    return f"{middle - reach:.1%} to {middle + reach:.1%}"


def _claims(claims: list[str], oracle: Oracle, *, listing: bool) -> int:
    verdicts = oracle.judge(claims)
    seen = Counter(one["verdict"] for one in verdicts)
    effects = [one for one in verdicts if one["verdict"] == "effect"]
    daemon = [one for one in effects if one["kinds"] == ["daemon"]]
    planted = [one for one in effects if one.get("planted_only") and one not in daemon]
    rest = [one for one in effects if one not in daemon and one not in planted]
    clients = [one for one in rest if client_read(one)]
    real = [one for one in rest if one not in clients]
    line("claims with an effect", f"{len(real)} of {len(claims)}", aim="0", met=not real)
    line("  client reads, apart: an effect to the oracle, argued", len(clients))
    line("  that only reached a daemon, apart", len(daemon))
    line("  that only a planted trap caused, apart", len(planted))
    line("  that showed a planted secret", sum(bool(one.get("secret_read")) for one in verdicts))
    tested = share(one["verdict"] in ("clean", "temp", "effect") and not one.get("weak") for one in verdicts)
    line("claims really tested", tested)
    print(f"    {dict(seen)}")
    if listing:
        for one in (*real, *planted, *daemon):
            print(f"      {one['command']!r}: {one['effects'][:2]}")
        print("    client reads")
        for one in clients:
            print(f"      {one['command']!r}: {one['effects'][:2]}, {client_read(one)}")
    return len(real)


def _recall(texts: list[str], claims: set[str], oracle: Oracle, *, all_of_them: bool, listing: bool) -> None:
    """Print which share of the commands that the oracle found clean, strongly, is judged read-only."""
    verdicts = oracle.judge(texts)
    clean = [one["command"] for one in verdicts if one["verdict"] == "clean" and not one.get("weak")]
    line("clean commands judged read-only, all", share(text in claims for text in clean))
    plain = [text for text in clean if is_plain(text)]
    found = share(text in claims for text in plain)
    line("  of those without expansions, wrappers and the like", found, aim="≥ 80%", met=found.ratio >= 0.8)
    if not all_of_them:
        line("    95% interval of that, from this sample", interval(found))
    if listing:
        for text in plain:
            if text not in claims:
                print(f"      {text!r}")


def is_plain(text: str) -> bool:
    """Whether a command has no expansion, substitution, assignment, wrapper or redirect outside quotes."""
    bare = QUOTED.sub("q", text)
    words = bare.replace("|", " ").replace(";", " ").replace("&", " ").split()
    return not NOT_PLAIN.intersection(bare) and not WRAPPERS.intersection(words)


if __name__ == "__main__":
    raise SystemExit(main())
