"""Entries about turns: what people said, what was answered and where, as the core writes them."""

from collections.abc import Sequence
from datetime import datetime

from gate.domain import PlaceId
from ledger.codec import instant
from ledger.kinds import Draft, Json, Kind
from tests.gate.makers import HERE
from tests.ledger.story import LATER


def received(
    turn: str = "t1",
    *,
    person: str = "ana",
    consumes: bool = True,
    place: PlaceId = HERE,
    kind: Kind = Kind.TURN_RECEIVED,
    direct: bool = False,
) -> Draft:
    """A message or a click came."""
    ref: dict[str, Json] = {"platform": "console", "tenant": "", "channel": place, "thread": ""}
    body: dict[str, Json] = {
        "turn": turn,
        "place": place,
        "place_ref": ref,
        "direct": direct,
        "person": person,
        "consumes_window": consumes,
    }
    return Draft(kind=kind, body=body, words={"text": b"words"})


def answered(
    turn: str = "t1",
    *,
    shows: Sequence[str] = (),
    window: tuple[str, str] | None = None,
    place: PlaceId = HERE,
    closes_windows: bool = False,
) -> Draft:
    """The bot answered; `window` is (person, proposal)."""
    body: dict[str, Json] = {
        "turn": turn,
        "place": place,
        "shows": list(shows),
        "window": None if window is None else {"person": window[0], "proposal": window[1]},
        **({"closes_windows": True} if closes_windows else {}),
    }
    return Draft(kind=Kind.TURN_ANSWERED, body=body)


def clarified(kind: Kind, *, deadline_at: datetime = LATER) -> Draft:
    """A choice was asked or ended."""
    body: dict[str, Json] = {
        "clarification": "c1",
        "place": HERE,
        "person": "ana",
        "deadline_at": instant(deadline_at),
    }
    words = {
        "said": b"restart it",
        "question": b"Which one?",
        "choices": b'[["first","run a on web1"],["second","run b on web1"]]',
    }
    return Draft(kind=kind, correlation_id="c1", body=body, words=words)


def moved(old: str, new: str, *, tenant: str = "") -> Draft:
    """A place goes on as the channel `new` of `tenant`."""
    refs: dict[str, Json] = {
        "place_ref": {"platform": "console", "tenant": "", "channel": old, "thread": ""},
        "moved_to": {"platform": "console", "tenant": tenant, "channel": new, "thread": ""},
    }
    return Draft(kind=Kind.PLACE_MOVED, body={**refs, "event": "e1"})
