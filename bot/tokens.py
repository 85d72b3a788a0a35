"""Button tokens: what a click carries (P3, C25).

A token is at most 32 ASCII bytes, says nothing a person can use, and only this bot can make one: choice, id
and a keyed hash over (choice, id, the digest of what was shown). It is checked against the store's present
digest on every click, so a card whose list has changed has dead buttons, after a restart too.
"""

import base64
import hashlib
import hmac
from dataclasses import dataclass

_MAC_CHARS = 16  # 96 bits


@dataclass(frozen=True, slots=True)
class Claim:
    """What a token says before it is checked. `choice` is one of the CHOICES; `subject` an id."""

    choice: str
    subject: str


APPROVE, DENY, DETAILS, PREVIEW, PICK = "a", "d", "i", "p", "o"
#: TYPE, EDIT and FILL open a form, DROP cancels a choice, ROLLBACK begins a run that undoes one.
TYPE, EDIT, FILL, DROP, ROLLBACK = "t", "e", "f", "c", "b"
#: The tokens of forms themselves.
PHRASE_FORM, REASON_FORM, EDIT_FORM, FILL_FORM = "T", "R", "E", "F"
#: What the token of a reason is bound to: a reason is owed whatever becomes of the card.
REASON_SHOWN = "reason"
#: What a press of each says, where words are recorded.
LABELS = {
    APPROVE: "Approve",
    DENY: "Deny",
    DETAILS: "Details",
    PREVIEW: "Preview",
    PICK: "Pick",
    TYPE: "Type phrase",
    EDIT: "Edit",
    FILL: "Fill in",
    DROP: "Cancel",
    ROLLBACK: "Roll back",
}
CHOICES = (*LABELS, PHRASE_FORM, REASON_FORM, EDIT_FORM, FILL_FORM)


def make(key: bytes, *, choice: str, subject: str, shown: str) -> str:
    """Return the token for `choice` on `subject`, bound to the digest `shown`."""
    return f"{choice}.{subject}.{_mac(key, choice, subject, shown)}"


def parse(token: str) -> Claim | None:
    """Return what `token` claims, or None for something that is no token of ours."""
    choice, _, rest = token.partition(".")
    subject, _, mac = rest.rpartition(".")
    if choice not in CHOICES or not subject or len(mac) != _MAC_CHARS:
        return None
    return Claim(choice, subject)


def is_valid(key: bytes, token: str, *, shown: str) -> bool:
    """Whether `token` was made by us for what is shown now."""
    claim = parse(token)
    if claim is None:
        return False
    expected = make(key, choice=claim.choice, subject=claim.subject, shown=shown)
    return hmac.compare_digest(token.encode(), expected.encode())


def _mac(key: bytes, choice: str, subject: str, shown: str) -> str:
    message = f"{choice}\n{subject}\n{shown}".encode()
    digest = hmac.new(key, message, hashlib.sha256).digest()
    return base64.urlsafe_b64encode(digest)[:_MAC_CHARS].decode()
