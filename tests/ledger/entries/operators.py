"""Entries about what operators set: switches, settings, linked accounts; as the core writes them."""

from datetime import datetime

from ledger.codec import instant
from ledger.kinds import Draft, Json, Kind
from tests.gate.makers import HERE
from tests.ledger.story import LATER


def switched(name: str, value: Json) -> Draft:
    """A switch was changed."""
    return Draft(kind=Kind.SWITCH_CHANGED, body={"switch": name, "value": value, "by": "ana"})


def setting(key: str, value: Json, *, by: str = "ana") -> Draft:
    """A setting was set at run time."""
    return Draft(kind=Kind.SETTING_CHANGED, body={"key": key, "value": value, "by": by, "place": HERE})


def cleared(key: str) -> Draft:
    """A setting that was set at run time was unset."""
    return Draft(kind=Kind.SETTING_CLEARED, body={"key": key, "by": "ana", "place": HERE})


def loosening(kind: Kind, *, how: str = "granted") -> Draft:
    """A loosening was asked or ended."""
    body: dict[str, Json] = {
        "loosening": "l1",
        "place": HERE,
        "person": "ana",
        "phrase": "resume everything",
        "deadline_at": instant(LATER),
        "wants": {"stopped": False},
        "how": how,
    }
    return Draft(kind=kind, body=body)


def offered(pairing: str = "c1", *, person: str = "ana", deadline_at: datetime = LATER) -> Draft:
    """A code was shown to somebody who wants to link an account."""
    body: dict[str, Json] = {
        "pairing": pairing,
        "person": person,
        "mac": f"mac of {pairing}",
        "deadline_at": instant(deadline_at),
        "place": HERE,
    }
    return Draft(kind=Kind.PAIRING_OFFERED, body=body)


def missed() -> Draft:
    """Somebody sent a code that is none."""
    return Draft(kind=Kind.PAIRING_MISSED, body={"account": "chat::9", "place": HERE})


def pairing_ended(pairing: str = "c1") -> Draft:
    """A code is over."""
    body: dict[str, Json] = {"pairing": pairing, "person": "ana", "how": "expired", "by": "agent"}
    return Draft(kind=Kind.PAIRING_ENDED, body=body)


def paired(account: str = "chat::1", *, pairing: str = "c1", person: str = "ana") -> Draft:
    """An account was linked to a person."""
    body: dict[str, Json] = {
        "pairing": pairing,
        "account": account,
        "display": "",
        "person": person,
        "place": HERE,
    }
    return Draft(kind=Kind.ACCOUNT_PAIRED, body=body)


def unpaired(account: str = "chat::1") -> Draft:
    """An account was unlinked."""
    return Draft(kind=Kind.ACCOUNT_UNPAIRED, body={"account": account, "person": "ana", "by": "ana"})
