"""How reminders and cancels are resolved on labelled rows: `python -m evals.remind FOLDER [--list]`.

The whole way of an act, not only reading its time (that is evals.when): decision, anchor and time, as
`gate.resolve` binds them. A false allow is the disaster: a reminder at another time than the row's, or one
where a person should be asked. Rows whose label is not taken as it stands are counted by the name of the
argument. Exit 1 when a target is missed.
"""

import argparse
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from bot.acts import reminders
from evals.rows import Row, line, read, share
from gate.domain import PersonId, PlaceId
from gate.resolve import cancel_job, remind, timing
from gate.resolve.decision import Act, Allow, Clarify, Decision, Deny, Slots
from gate.resolve.times import Times, Width
from gate.when import Anchor, event_time, names_of, remember

#: Returns the decision about a row, its mark, and by which name its label is argued, "" where it is not.
Judge = Callable[[Row], tuple[Decision, str, str]]
RIGHT, ASKED, WRONG = "right", "asked", "wrong"
TOLERANCE = timedelta(seconds=1)
_NOW = datetime(2026, 8, 11, 10, tzinfo=UTC)
#: The kinds of the extra rows that are about reading a time alone; evals.when has them.
_READING = frozenset({"belief_date_parses", "parse_expression"})
#: How wide questions are in the words of the rows' source.
_WIDTHS = {"strict": Width.STRICT, "balanced": Width.BALANCED, "autonomous": Width.RELAXED}
_PAST = "past, denied (D21)"
_NEARBY = "label against the rule: event within 7 days, asked (K23)"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--list", action="store_true", help="name the rows that are not right")
    args = parser.parse_args()
    missed = _family("remind_time", read(args.folder, "remind_time"), _reminder, listing=args.list)
    extra = [row for row in read(args.folder, "remind_time_extra") if row.get("kind") not in _READING]
    missed += _family("remind_time_extra", extra, _extra, listing=args.list)
    acts = [row for row in read(args.folder, "acts") if row.get("kind") == "cancel_job"]
    missed += _family("acts: cancel_job", acts, _cancel, listing=args.list)
    return 1 if missed else 0


def _family(name: str, rows: list[Row], judge: Judge, *, listing: bool) -> int:
    print(name)
    marks = [(row, *judge(row)) for row in rows]
    for why, count in Counter(why for *_, why in marks if why).items():
        line(f"argued: {why}", count)
    for kind in sorted({_kind(row) for row in rows}):
        line(kind, share(mark == RIGHT for row, _, mark, _ in marks if _kind(row) == kind))
    false = sum(mark == WRONG for _, _, mark, _ in marks)
    right = share(mark == RIGHT for _, _, mark, _ in marks)
    line("false allows", false, aim="0", met=not false)
    line("right", right, aim="≥ 99%", met=right.ratio >= 0.99 or not rows)
    for row, decision, mark, _ in marks:
        if mark != RIGHT and (listing or mark == WRONG):
            print(f"      {mark} {row['id']} {row.get('text', row.get('user_text', ''))!r}: {decision}")
    return false + (bool(rows) and right.ratio < 0.99)


def _kind(row: Row) -> str:
    return str(row.get("kind") or f"{row.get('lang', '')} {row.get('category', 'text')}".strip())


def _times(row: Row, *, width: Width = Width.BALANCED) -> Times:
    at = datetime.fromisoformat(row["request_at"]) if "request_at" in row else _NOW
    anchors = [
        Anchor(
            name=fact["predicate"], at=event_time(fact["object"], UTC), aliases=names_of(fact["predicate"])
        )
        for fact in row.get("memory", [])
    ]
    return Times(request_at=at, now=at, zone=UTC, remembered=remember(anchors), width=width)


def _slots(text: str, **more: str) -> Slots:
    """Return the slots of a message, as the bot reads them."""
    return {"words": text, "about": reminders.asked(text) or "", **more}


def _at(decision: Decision) -> datetime | None:
    return datetime.fromisoformat(decision.slots["fire_at"]) if isinstance(decision, Allow) else None


def _reminder(row: Row) -> tuple[Decision, str, str]:
    """Return the decision, its mark, and by which name the label is argued where it is not taken."""
    decision = remind.resolve(_slots(row["text"]), times=_times(row))
    expected, at = row["expected"], _at(decision)
    if expected["decision"] == "clarify":
        return decision, (RIGHT if isinstance(decision, Clarify) else WRONG), ""
    wanted = datetime.fromisoformat(expected["fire_at_iso"])
    if wanted <= datetime.fromisoformat(row["request_at"]):
        return decision, (RIGHT if isinstance(decision, Deny) else WRONG if at else ASKED), _PAST
    if not row["ref_ok"]:
        offered = isinstance(decision, Clarify) and any(
            one.patch and datetime.fromisoformat(one.patch["fire_at"]) == wanted for one in decision.options
        )
        return decision, RIGHT if offered else WRONG if at else ASKED, _NEARBY
    if at is None:
        return decision, ASKED, ""
    same = abs(at - wanted) <= TOLERANCE and decision.slots["anchor"] == expected["anchor"]
    return decision, RIGHT if same else WRONG, ""


def _extra(row: Row) -> tuple[Decision, str, str]:
    kind = row.get("kind", "text")
    if kind == "text":
        decision = remind.resolve(_slots(row["text"]), times=_times(row))
        return decision, *_against(row, row["recommended"], decision)
    if kind == "authorize_remind":
        width = _WIDTHS[row["mode"]]
        decision = remind.resolve(_slots(row["user_text"], **row["args"]), times=_times(row, width=width))
        return decision, _authorized(row["expected"], decision), ""
    if kind == "parse_absolute_timing":
        found = timing.parse_absolute(row["input"], _times(row))
        return _nothing(), RIGHT if (found is not None) == row["expected"]["absolute"] else WRONG, ""
    checked = timing.check(row["timing"], _times(row))
    wanted = (row["expected"]["consistency"], row["expected"]["matched"] or "")
    return _nothing(), RIGHT if (checked.consistency.value, checked.matched) == wanted else WRONG, ""


def _nothing() -> Decision:
    return Clarify(question="", slots={})


def _against(row: Row, wanted: dict[str, Any], decision: Decision) -> tuple[str, str]:
    at, allowed = _at(decision), wanted["decision"]
    if at is not None:
        meant = datetime.fromisoformat(wanted.get("fire_at_iso", "1970-01-01T00:00:00+00:00"))
        return RIGHT if at == meant and allowed in {"allow", "clarify_or_allow"} else WRONG, ""
    if allowed == "allow" and "acceptable either way" in row.get("why", ""):
        return RIGHT, "the row takes either; asked"
    return RIGHT if allowed != "allow" else ASKED, ""


def _authorized(expected: dict[str, Any], decision: Decision) -> str:
    at = _at(decision)
    if expected["decision"] == "allow":
        if at is None:
            return ASKED
        kept = all(decision.slots.get(name) == value for name, value in expected.get("keeps", {}).items())
        return RIGHT if kept and at.isoformat().startswith(expected.get("timing_prefix", "")) else WRONG
    if at is not None or not isinstance(decision, Clarify):
        return WRONG
    ids = {one.id for one in decision.options} | {"cancel"}  # every card adds its cancel
    return RIGHT if set(expected.get("option_ids_include", [])) <= ids else ASKED


def _cancel(row: Row) -> tuple[Decision, str, str]:
    """Judge a cancel; whose a job is stands for the source's tenants, and no tenant sees another's."""
    given = row["given"]
    jobs = [
        cancel_job.PendingJob(
            id=job["job_id"],
            act=Act.REMIND,
            place=PlaceId(job["thread_id"]),
            person=PersonId(job["tenant"]),
            text=job["prompt"],
        )
        for job in given["jobs"]
        if job["status"] == "pending"
    ]
    asker = cancel_job.Asker(
        person=PersonId(given.get("tenant", "default")), place=PlaceId(given["thread"]), alone=True
    )
    decision = cancel_job.resolve({"job": given["job_id"]}, jobs=jobs, asker=asker)
    same = type(decision).__name__.lower() == row["expected"]["decision"]
    return decision, RIGHT if same else WRONG if isinstance(decision, Allow) else ASKED, ""


if __name__ == "__main__":
    raise SystemExit(main())
