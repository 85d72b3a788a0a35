"""How acts are resolved, on a folder of labelled rows: `python -m evals.acts FOLDER [--list]`.

Commands, posts, settings and jobs go to their resolver, tools to their profile, facts to the rule of trust.
What is said of questions and their answers is played as a conversation with the real bot. A label that is not
taken as it stands is named with the rule that is followed instead. Exit 1 when a row is wrong or something is
allowed that should not be.
"""

import argparse
import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.acts.record import word_of
from bot.loading.rules import load_rules
from evals import answers
from evals.rows import Row, line, read, share
from gate.domain import PersonId, PlaceId
from gate.effects import profile_of
from gate.resolve import cancel_job, config_change, send_outbound
from gate.resolve import exec as commands
from gate.resolve.decision import Act, Decision
from gate.trust import Source, may_supersede

RIGHT, ARGUED, WRONG = "right", "argued", "wrong"
ROOT = "/srv/work"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """What became of a row, and what it was read as; `why` is the rule that argues against its label."""

    mark: str
    found: object
    why: str = ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--list", action="store_true", help="name the rows that are not right")
    args = parser.parse_args()
    rows = read(args.folder, "acts")
    marks = [(row, judged(row)) for row in rows]
    print("acts")
    for kind in sorted({row["kind"] for row in rows}):
        line(kind, share(mark.mark == RIGHT for row, mark in marks if row["kind"] == kind))
    for why, count in Counter(mark.why for _, mark in marks if mark.why).items():
        line(f"argued: {why}", count)
    wrong = [(row, mark) for row, mark in marks if mark.mark == WRONG]
    false = [mark for row, mark in marks if allowed(row["expected"], mark.found)]
    line("false allows", len(false), aim="0", met=not false)
    line("wrong", len(wrong), aim="0", met=not wrong)
    for row, mark in marks:
        if mark.mark == WRONG or (args.list and mark.mark != RIGHT):
            print(f"      {mark.mark} {row['id']} {row['given']}: {row['expected']}; found {mark.found}")
    return 1 if wrong or false else 0


def judged(row: Row) -> Mark:
    """Return what becomes of a row; one of a kind that is not known here is wrong."""
    judge = JUDGES.get(row["kind"])
    if judge is None:
        return Mark(mark=WRONG, found=f"no judge for {row['kind']}")
    return judge(row["given"], row["expected"])


def allowed(expected: dict[str, Any], found: object) -> bool:
    """Whether something was allowed that was to be denied or asked."""
    return found == "allow" and expected.get("decision") not in {None, "allow"}


# ---------------------------------------------------------------- resolvers

_rules = load_rules()


def _decided(expected: dict[str, Any], decision: Decision) -> Mark:
    word = word_of(decision)
    return Mark(mark=RIGHT if word == expected["decision"] else WRONG, found=word)


def _exec(given: dict[str, Any], expected: dict[str, Any]) -> Mark:
    command = given["command"]
    words = command if isinstance(command, list) else ()
    slots = {
        "command": "" if words else command,
        "workdir": given.get("cwd", "").replace("<root>", ROOT),
    }
    return _decided(expected, commands.resolve(slots, argv=words, rules=_rules, roots=(ROOT,)))


def _send(given: dict[str, Any], expected: dict[str, Any]) -> Mark:
    listed = given.get("allowlist", [])
    slots = {name: given[name] for name in send_outbound.TARGET_SLOTS if name in given}
    decision = send_outbound.resolve(
        slots | {"text": "hello"},
        places=[*listed, *slots.values()],
        allowed=listed,
        strict=given.get("mode") == "strict",
    )
    return _decided(expected, decision)


def _config(given: dict[str, Any], expected: dict[str, Any]) -> Mark:
    known = config_change.Known(asks="1", would_ask="2")
    return _decided(expected, config_change.resolve({"key": given["key"], "value": "2"}, known=known))


def _cancel(given: dict[str, Any], expected: dict[str, Any]) -> Mark:
    tenant = given.get("tenant", "default")
    jobs = [
        cancel_job.PendingJob(
            id=one["job_id"],
            act=Act.REMIND,
            place=PlaceId(one["thread_id"]),
            person=PersonId(one["tenant"]),
            text=one["prompt"],
        )
        for one in given.get("jobs") or []
        if one["status"] == "pending"  # the ledger knows no others as such
    ]
    decision = cancel_job.resolve(
        {"job": given.get("job_id", "")},
        jobs=None if given.get("jobs") is None else jobs,
        asker=cancel_job.Asker(person=PersonId(tenant), place=PlaceId(given["thread"])),
    )
    if expected["decision"] == "clarify" and word_of(decision) == "deny":
        return Mark(mark=ARGUED, found="deny", why="nothing of theirs waits, so there is nothing to pick")
    return _decided(expected, decision)


# ---------------------------------------------------------------- rules


def _effect(given: dict[str, Any], expected: dict[str, Any]) -> Mark:
    profile = profile_of(given["tool"])
    found = (profile.effect, profile.security_tier, profile.semantic_tier)
    wanted = (expected["effect"], expected["security"], expected["semantic"])
    acts = (expected["act"] or "").split("|")
    same = found == wanted and (profile.act or "") in acts
    return Mark(mark=RIGHT if same else WRONG, found=(*found, profile.act))


def _trust(given: dict[str, Any], expected: dict[str, Any]) -> Mark:
    may = may_supersede(Source(given["existing"]), Source(given["incoming"]))
    wanted = expected["action"] == "supersede"
    return Mark(mark=RIGHT if may == wanted else WRONG, found="supersede" if may else "blocked")


def _played(play: answers.Play) -> Callable[[dict[str, Any], dict[str, Any]], Mark]:
    def judge(given: dict[str, Any], expected: dict[str, Any]) -> Mark:
        found, why = asyncio.run(play(given, expected))
        if not found:
            return Mark(mark=ARGUED if why else RIGHT, found="as expected", why=why)
        return Mark(mark=WRONG, found=found)

    return judge


JUDGES: dict[str, Callable[[dict[str, Any], dict[str, Any]], Mark]] = {
    "exec": _exec,
    "send_outbound": _send,
    "config_change": _config,
    "cancel_job": _cancel,
    "effect": _effect,
    "source_trust": _trust,
    "store": _played(answers.store),
    "resume": _played(answers.resume),
}

if __name__ == "__main__":
    raise SystemExit(main())
