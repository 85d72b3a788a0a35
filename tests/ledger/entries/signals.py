"""Entries about signals, as the core writes them."""

from collections.abc import Sequence

from ledger.kinds import Draft, Json, Kind
from ledger.signal_views import Held, How
from ledger.signals import group_key, signal_id
from tests.gate.makers import HERE, NOW

S1, S2 = signal_id("am", "f1"), signal_id("am", "f2")
WHAT = (
    b'{"annotations":{"summary":"full"},"fingerprint":"f1","group":"g",'
    b'"labels":{"alertname":"DiskFull"},"severity":"page"}'
)


def received(name: str = S1, *, news: str = "fired", group: str = "k00001", what: bytes = WHAT) -> Draft:
    """A signal began or ended."""
    status = "resolved" if news == "resolved" else "firing"
    body: dict[str, Json] = {
        "signal": name,
        "source": "am",
        "status": status,
        "news": news,
        "group": group,
        "starts_at": NOW.isoformat(),
        "late": False,
    }
    return Draft(kind=Kind.SIGNAL_RECEIVED, correlation_id=group, body=body, words={"what": what})


def grouped(group: str = "k00001", *, storm: str = "", key: str = "g") -> Draft:
    """A group of signals began."""
    body: dict[str, Json] = {
        "group": group,
        "key": group_key("am", key),
        "source": "am",
        "place": HERE,
        "storm": storm,
    }
    return Draft(kind=Kind.SIGNAL_GROUPED, correlation_id=group, body=body)


def handled(how: How = How.PROPOSED, *, ref: str = "p00001", signals: Sequence[str] = (S1,)) -> Draft:
    """Something was done about a match."""
    body: dict[str, Json] = {
        "group": "k00001",
        "signals": list(signals),
        "how": how.value,
        "ref": ref,
        "key": "abc",
        "level": "propose",
        "target": "web1",
        "document": "disk",
    }
    return Draft(kind=Kind.SIGNAL_HANDLED, body=body, words={"matched": b"m", "note": b"n"})


def held(why: Held, *, signal: str = "", group: str = "") -> Draft:
    """Something is held back."""
    return Draft(
        kind=Kind.SIGNAL_HELD, body={"signal": signal, "group": group, "why": why.value, "until_at": ""}
    )


def released(**body: Json) -> Draft:
    """It is held no longer."""
    return Draft(kind=Kind.SIGNAL_RELEASED, body=body)


def watched(state: str = "raised") -> Draft:
    """A watch saw something else than before."""
    body: dict[str, Json] = {"job": "j00001", "target": "web1", "state": state}
    return Draft(kind=Kind.WATCH_CHANGED, body=body, words={"value": state.encode()})


def storm_began(storm: str = "s00001") -> Draft:
    """Too many groups began at once."""
    return Draft(kind=Kind.STORM_BEGAN, body={"storm": storm, "place": HERE, "groups": 2})
