r"""The hash chain: what an entry's hash covers, and the canonical JSON that it covers.

hash = SHA-256 of six fields joined by "\n": previous hash, seq, kind, at, correlation id, body, in UTF-8. No
field can hold a newline (canonical JSON escapes them, `check_line` refuses the rest), so no two entries share
a preimage and anybody can check one by hand with printf and sha256sum. Bytes are hashed as stored, never
re-serialised objects.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from hashlib import sha256
from typing import NamedTuple, cast

from ledger.kinds import DraftError, Json

#: The previous hash of entry 1.
GENESIS = "0" * 64


class Head(NamedTuple):
    """The end of the chain: number and hash of the newest entry; 0 and GENESIS when there is none."""

    seq: int = 0
    hash: str = GENESIS


def entry_hash(*, prev_hash: str, seq: int, kind: str, at: str, correlation_id: str, body: str) -> str:
    """Return the hash of an entry, 64 lower-case hex digits."""
    return sha256(f"{prev_hash}\n{seq}\n{kind}\n{at}\n{correlation_id}\n{body}".encode()).hexdigest()


def canonical(document: Mapping[str, Json]) -> str:
    """Return the one JSON text of `document`: keys sorted, no spaces, UTF-8, no NaN.

    Raises:
        DraftError: it is no JSON value, or holds a character that UTF-8 cannot carry.
    """
    try:
        text = "".join(_encode(document, 0))
        text.isascii() or text.encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise DraftError(f"{DraftError.__doc__} The body cannot be stored: {error}.") from error
    return text


def _encoder() -> "_Encode":
    """Return what writes a document, given it and 0, as pieces of canonical JSON.

    JSONEncoder makes its C encoder anew for every document, which costs as much as a small document does;
    here it is made once. Where Python was built without it, JSONEncoder gives the same text.
    """
    # Without the check for circles, a circle ends in RecursionError: the same refusal, and less work.
    plain = json.JSONEncoder(
        check_circular=False, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )
    make, text = getattr(json.encoder, "c_make_encoder", None), json.encoder.encode_basestring
    made = make(None, plain.default, text, None, ":", ",", True, False, False) if make else plain.iterencode
    return cast("_Encode", made)


_Encode = Callable[[Mapping[str, Json], int], Iterable[str]]
_encode = _encoder()


def check_line(name: str, value: str) -> str:
    """Return `value` if it can stand on one line of a preimage, that is, holds printable characters only.

    Raises:
        DraftError: it cannot.
    """
    if not value.isprintable():
        raise DraftError(f"{DraftError.__doc__} {name} may hold printable characters only: {value!r}.")
    return value


def instant(value: datetime) -> str:
    """Return the stored form of an instant: UTC, microseconds, "Z"; sorts as text.

    Raises:
        DraftError: `value` has no time zone.
    """
    if value.tzinfo is None:
        raise DraftError(f"{DraftError.__doc__} The time {value} has no zone.")
    return value.astimezone(UTC).isoformat(timespec="microseconds")[:-6] + "Z"
