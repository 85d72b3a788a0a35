"""How well times are read, on a folder of labelled rows: `python -m evals.when FOLDER [--list]`.

A wrong time is the disaster: a row that resolves to another time than its own, or that resolves where a
person should be asked. Asking is never wrong. Reminders that lie before their request are denied as past
(D21): they are right when the time that was understood is the row's. Sources disagree on
whether "May" may lie behind: a result that differs from its row only by lying ahead is counted apart.
Exit 1 when a target is missed.
"""

import argparse
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from evals.rows import Row, line, read, share
from gate.when import (
    NEARBY_DAYS,
    REQUEST,
    Anchor,
    Ask,
    Impossible,
    NoTime,
    Outcome,
    Resolved,
    event_time,
    names_of,
    resolve,
)

TOLERANCE = timedelta(seconds=1)
RIGHT, ASKED, WRONG, AHEAD = "right", "asked", "wrong", "ahead"
STRICT_DAYS = 30


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--list", action="store_true", help="name the rows that are not right")
    args = parser.parse_args()
    missed = _reminders(read(args.folder, "remind_time"), listing=args.list)
    missed += _extra(read(args.folder, "remind_time_extra"), listing=args.list)
    missed += _cases(read(args.folder, "time_cases"), listing=args.list)
    return 1 if missed else 0


def _anchors(memory: list[dict[str, str]]) -> list[Anchor]:
    return [
        Anchor(
            name=fact["predicate"], at=event_time(fact["object"], UTC), aliases=names_of(fact["predicate"])
        )
        for fact in memory
    ]


def _read(row: Row, text: str, nearby_days: int = NEARBY_DAYS) -> Outcome:
    at = datetime.fromisoformat(row["request_at"])
    return resolve(text, request_at=at, zone=UTC, anchors=_anchors(row["memory"]), nearby_days=nearby_days)


def _said(outcome: Outcome) -> str:
    match outcome:
        case Resolved():
            return f"{outcome.at.isoformat()} {outcome.anchor} {outcome.rrule}".rstrip()
        case Ask():
            return f"ask {outcome.why.value} {[one.at.isoformat() for one in outcome.options]}"
        case Impossible():
            return f"impossible {outcome.reason.value} {outcome.asked_at and outcome.asked_at.isoformat()}"
        case NoTime():
            return "no time"


# ---------------------------------------------------------------- reminders


def _reminders(rows: list[Row], *, listing: bool) -> int:
    print("remind_time")
    marks = [
        (row, outcome, *_reminder(row, outcome)) for row in rows for outcome in [_read(row, row["text"])]
    ]
    for lang in ("en", "ar"):
        for category in sorted({row["category"] for row in rows}):
            own = [mark for row, _, mark, _ in marks if (row["lang"], row["category"]) == (lang, category)]
            line(f"{lang} {category}", share(mark == RIGHT for mark in own))
    false = [row for row, _, mark, _ in marks if mark == WRONG]
    argued = Counter(why for _, _, mark, why in marks if why)
    for why, count in argued.items():
        line(f"argued: {why}", count)
    plain = share(mark == RIGHT for _, _, mark, why in marks)
    line("false allows", len(false), aim="0", met=not false)
    line("right", plain, aim="≥ 99%", met=plain.ratio >= 0.99 or not rows)
    _listed(
        ((row["text"], row["expected"], outcome) for row, outcome, mark, why in marks if mark != RIGHT),
        listing=listing,
    )
    return len(false) + (bool(rows) and plain.ratio < 0.99)


def _reminder(row: Row, outcome: Outcome) -> tuple[str, str]:
    """Return the mark, and by which name it is argued where the label is not taken as it stands."""
    expected = row["expected"]
    if expected["decision"] == "clarify":
        return (WRONG if isinstance(outcome, Resolved) else RIGHT), ""
    at, request_at = (
        datetime.fromisoformat(expected["fire_at_iso"]),
        datetime.fromisoformat(row["request_at"]),
    )
    if at <= request_at:
        right = isinstance(outcome, Impossible) and outcome.asked_at == at
        return (
            RIGHT if right else ASKED if not isinstance(outcome, Resolved) else WRONG
        ), "past, denied (D21)"
    if not row["ref_ok"]:
        asked = isinstance(outcome, Ask) and any(option.at == at for option in outcome.options)
        return (RIGHT if asked else WRONG), "label against the rule: event within 7 days, asked (K23)"
    if isinstance(outcome, Resolved):
        same = abs(outcome.at - at) <= TOLERANCE and outcome.anchor == expected["anchor"]
        return (RIGHT if same else WRONG), ""
    return ASKED, ""


def _extra(rows: list[Row], *, listing: bool) -> int:
    print("remind_time_extra")
    kept = [(row, outcome, mark) for row in rows for outcome, mark in [_extra_mark(row)] if mark]
    left = Counter(row.get("kind", "text") for row in rows if not _extra_mark(row)[1])
    for kind in sorted({row.get("kind", "text") for row, _, _ in kept}):
        line(kind, share(mark == RIGHT for row, _, mark in kept if row.get("kind", "text") == kind))
    for kind, count in left.items():
        line(f"left to the act's resolver: {kind}", count)
    wrong = sum(mark == WRONG for _, _, mark in kept)
    line("false allows", wrong, aim="0", met=not wrong)
    _listed(
        (
            (
                row.get("text", row.get("user_text", row.get("input"))),
                row.get("recommended", row.get("expected")),
                outcome,
            )
            for row, outcome, mark in kept
            if mark != RIGHT
        ),
        listing=listing,
    )
    return wrong


def _extra_mark(row: Row) -> tuple[Outcome, str]:
    kind = row.get("kind", "text")
    now = datetime(2026, 8, 11, 10, tzinfo=UTC)
    match kind:
        case "text":
            outcome = _read(row, row["text"])
            return outcome, _against(row["recommended"], outcome)
        case "parse_absolute_timing":
            outcome = resolve(row["input"], request_at=now, zone=UTC)
            absolute = isinstance(outcome, Resolved) and outcome.anchor != REQUEST
            return outcome, RIGHT if absolute == row["expected"]["absolute"] else WRONG
        case "belief_date_parses":
            parsed = event_time(row["input"], UTC) is not None
            return NoTime(), RIGHT if parsed == row["expected"]["parses"] else WRONG
        case "parse_expression":
            at = datetime.fromisoformat(row["request_at"])
            outcome = resolve(row["text"], request_at=at, zone=UTC)
            meant = at + timedelta(minutes=row["expected"]["lead_minutes"])
            return outcome, RIGHT if isinstance(outcome, Resolved) and outcome.at == meant else WRONG
        case "authorize_remind" if row["mode"] != "autonomous" and row["user_text"].startswith(
            ("remind", "ذكرني")
        ):
            outcome = _read(row, row["user_text"], nearby_days=STRICT_DAYS if row["mode"] == "strict" else 7)
            return outcome, _authorized(row["expected"], outcome)
        case _:
            return NoTime(), ""


def _authorized(expected: dict[str, Any], outcome: Outcome) -> str:
    if expected["decision"] != "allow":
        return WRONG if isinstance(outcome, Resolved) else RIGHT
    if not isinstance(outcome, Resolved):
        return ASKED
    return RIGHT if outcome.at.isoformat().startswith(expected.get("timing_prefix", "")) else WRONG


def _against(wanted: dict[str, Any], outcome: Outcome) -> str:
    may_ask = wanted["decision"] != "allow"
    if isinstance(outcome, Resolved):
        same = datetime.fromisoformat(wanted.get("fire_at_iso", "1970-01-01T00:00:00+00:00")) == outcome.at
        return RIGHT if same and wanted["decision"] in {"allow", "clarify_or_allow"} else WRONG
    return RIGHT if may_ask else ASKED


# ---------------------------------------------------------------- time expressions


def _cases(rows: list[Row], *, listing: bool) -> int:
    print("time_cases")
    marks = [(row, outcome, _case(row, outcome)) for row in rows for outcome in [_outcome(row)]]
    for source in sorted({row["source"] for row in rows}):
        for lang in ("en", "ar"):
            own = Counter(mark for row, _, mark in marks if (row["source"], row["lang"]) == (source, lang))
            if own:
                said = ", ".join(f"{mark} {own[mark]}" for mark in (RIGHT, ASKED, AHEAD, WRONG))
                line(f"{source} {lang}", said)
    hand = share(mark == RIGHT for row, _, mark in marks if row["source"] == "handwritten")
    wrong = [row for row, _, mark in marks if mark == WRONG]
    line("handwritten right", hand, aim="≥ 90%", met=hand.ratio >= 0.9 or not hand.of)
    line("wrong times", len(wrong), aim="0", met=not wrong)
    for row, outcome, mark in marks:
        if mark == WRONG or (listing and mark != RIGHT):
            name = f"{mark} {row['source']} {row['ref']} {row['text']!r}"
            print(f"      {name}: {row['expected']}; read {_said(outcome)}")
    return len(wrong) + (bool(hand.of) and hand.ratio < 0.9)


def _outcome(row: Row) -> Outcome:
    ref = datetime.fromisoformat(row["ref"])
    zone = ref.tzinfo or UTC
    return resolve(row["text"], request_at=ref.replace(tzinfo=zone), zone=zone)


def _case(row: Row, outcome: Outcome) -> str:
    at = outcome.at if isinstance(outcome, Resolved) else None
    if isinstance(outcome, Impossible):
        at = outcome.asked_at
    if at is None:
        return ASKED
    ref = datetime.fromisoformat(row["ref"])  # every source tells local times
    at = at.astimezone(ref.tzinfo or UTC).replace(tzinfo=None)
    ref = ref.replace(tzinfo=None)
    fits = [_fits(row, value, at, ref) for value in _values(row["expected"])]
    if RIGHT in fits:
        return RIGHT
    if isinstance(outcome, Impossible):
        return ASKED  # nothing would be done at it
    return AHEAD if AHEAD in fits else WRONG


def _values(expected: object) -> list[dict[str, str]]:
    values = expected if isinstance(expected, list) else [expected]
    return [value if isinstance(value, dict) else {"value": value} for value in values]


def _fits(row: Row, value: dict[str, str], at: datetime, ref: datetime) -> str:
    stated = value.get("value", value.get("at", value.get("start", "")))
    if row["type"] == "duration":
        return RIGHT if abs((at - ref).total_seconds() - float(stated)) <= 1 else WRONG
    if len(stated) < len("2016-11-07"):  # a time of day, or an interval open to the past
        return RIGHT if at.strftime("%H:%M:%S") == stated else WRONG
    meant = datetime.fromisoformat(stated)
    if "start" in value:
        end = datetime.fromisoformat(value["end"]) if "end" in value and len(value["end"]) > 8 else None
        return RIGHT if meant <= at and (end is None or at < end) and end is not None else WRONG
    if _same(row, at, meant):
        return RIGHT
    ahead = meant <= ref < at and (
        (at.month, at.day) == (meant.month, meant.day)
        or at.weekday() == meant.weekday()
        or at.time() == meant.time()
    )
    return AHEAD if ahead else WRONG


def _same(row: Row, at: datetime, meant: datetime) -> bool:
    grain = row["grain"] or ("day" if row["type"] == "date" else "")
    implied = (
        row["source"] == "chrono"
        and (meant.hour, meant.minute) == (12, 0)
        and (at.hour, at.minute) != (12, 0)
    )
    if grain in {"second", "minute", "hour", ""} and not implied:
        return abs(at - meant) <= TOLERANCE or (grain == "hour" and at.replace(minute=0, second=0) == meant)
    if grain == "week":
        return (at - timedelta(days=at.weekday())).date() == meant.date()
    if grain == "month":
        return (at.year, at.month) == (meant.year, meant.month)
    return at.date() == meant.date()


def _listed(rows: Iterable[tuple[object, object, Outcome]], *, listing: bool) -> None:
    if listing:
        for text, expected, outcome in rows:
            print(f"      {text!r}: {expected}; read {_said(outcome)}")


if __name__ == "__main__":
    raise SystemExit(main())
