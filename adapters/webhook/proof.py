"""Proof: whether a delivery comes from its source, compared in constant time.

A bearer secret is sent along; a signature covers the timestamp and the body, so that what somebody overheard
is worth nothing once its time is over, and nothing in it can be changed.
"""

import hashlib
import hmac
from collections.abc import Mapping
from datetime import datetime

from adapters.webhook.settings import SourceSettings

#: Where signature and timestamp stand, by format, unless the owner says otherwise.
HEADERS: Mapping[str, tuple[str, str]] = {
    "alertmanager": ("X-Sayso-Signature", "X-Sayso-Timestamp"),
    "grafana": ("X-Grafana-Alerting-Signature", "X-Grafana-Alerting-Timestamp"),
    "generic": ("X-Sayso-Signature", "X-Sayso-Timestamp"),
}
#: Characters of a header that are looked at; longer ones are nobody's.
_LONGEST = 1024


class RefusedError(Exception):
    """It is not let in; the message says what the sender has to send, and no secret."""


def bearer(secret: bytes, headers: Mapping[str, str]) -> None:
    """Let a delivery in by the secret that it carries; its body need not be read for that.

    Raises:
        RefusedError: it carries another, or none.
    """
    kind, _, given = headers.get("Authorization", "")[:_LONGEST].partition(" ")
    if not hmac.compare_digest(given.strip().encode("utf-8", "replace"), secret) or kind.lower() != "bearer":
        raise RefusedError("Say whose report it is: Authorization: Bearer <secret of this source>.")


def signature(
    source: SourceSettings, secret: bytes, headers: Mapping[str, str], body: bytes, *, now: datetime
) -> str:
    """Let a delivery in by its signature; return its timestamp.

    Raises:
        RefusedError: it is not signed as it has to be, or too long ago.
    """
    usual = HEADERS[source.format]
    signed_in, stamped_in = source.header or usual[0], source.timestamp_header or usual[1]
    stamp = headers.get(stamped_in, "")[:_LONGEST].strip()
    given = headers.get(signed_in, "")[:_LONGEST].strip().lower().removeprefix("sha256=")
    wanted = hmac.new(secret, stamp.encode("utf-8", "replace") + b":" + body, hashlib.sha256).hexdigest()
    if not hmac.compare_digest(given.encode("utf-8", "replace"), wanted.encode()):
        raise RefusedError(
            f"Not signed by this source: {signed_in} has to be the hex HMAC-SHA256 of the timestamp in "
            f"{stamped_in}, a colon and the body."
        )
    is_time = stamp.isascii() and stamp.isdigit()
    if not is_time or abs(now.timestamp() - int(stamp)) > source.window_s:
        raise RefusedError(
            f"{stamped_in} has to be the Unix time of now, at most {source.window_s} s off. Check the clocks."
        )
    return stamp
