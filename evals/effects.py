"""Whether commands judged read-only really have no effect: `python -m evals.effects FOLDER ORACLE`.

Judges every row of nl2bash and tldr, hands the read-only claims to an effect oracle (a program that runs
each command in a traced sandbox) and prints what it saw. Three kinds stand apart: effects that only reach a
daemon, since none answers there; those that only a planted trap causes, which is code execution in a
hostile folder; and client reads (docs/risk.md), where a client asks the server it is configured for and
keeps a folder of its own. The last are effects to the oracle, and printed as such. Exit 1 when any other
claim had an effect.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from bot.loading.rules import load_rules
from evals.rows import Row, line, read, share
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
    parser.add_argument("--sample", type=int, default=0, help="only this many claims of each file, 0 for all")
    parser.add_argument(
        "--clean", action="store_true", help="also run what was not claimed, for the recall figure"
    )
    parser.add_argument("--list", action="store_true", help="name the claims that had an effect")
    args = parser.parse_args()
    rules = load_rules()
    rows = {name: read(args.folder, name) for name in ("nl2bash", "tldr")}
    bad = 0
    for name, commands in rows.items():
        texts = list(dict.fromkeys(row["command"] for row in commands))
        claims = [text for text in texts if classify(text, rules=rules).auto_run]
        print(f"{name}: {len(claims)} of {len(texts)} commands judged read-only")
        bad += _claims(claims[: args.sample or None], args.oracle, listing=args.list)
        if args.clean and name == "nl2bash":
            _recall(texts, set(claims), args.oracle, sample=args.sample, listing=args.list)
    return 1 if bad else 0


def run_oracle(commands: list[str], oracle: Path) -> list[Row]:
    """Return the oracle's verdict on each command, in order."""
    with tempfile.TemporaryDirectory() as folder:
        given, told = Path(folder) / "commands.jsonl", Path(folder) / "verdicts.jsonl"
        given.write_text("".join(json.dumps({"command": one}) + "\n" for one in commands))
        done = subprocess.run([sys.executable, str(oracle), str(given), "--out", str(told)], check=False,
                              capture_output=True, text=True)  # fmt: skip
        if done.returncode not in (0, 1):
            raise SystemExit(f"the oracle cannot run here: {done.stderr[-400:]}")
        return [json.loads(text) for text in told.read_text().splitlines()]


def _claims(claims: list[str], oracle: Path, *, listing: bool) -> int:
    verdicts = run_oracle(claims, oracle)
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


def _recall(texts: list[str], claims: set[str], oracle: Path, *, sample: int, listing: bool) -> None:
    """Print which share of the commands that the oracle found clean, strongly, is judged read-only."""
    verdicts = run_oracle(texts[: sample or None], oracle)
    clean = [one["command"] for one in verdicts if one["verdict"] == "clean" and not one.get("weak")]
    line("clean commands judged read-only, all", share(text in claims for text in clean))
    plain = [text for text in clean if is_plain(text)]
    found = share(text in claims for text in plain)
    line("  of those without expansions, wrappers and the like", found, aim="≥ 80%", met=found.ratio >= 0.8)
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
