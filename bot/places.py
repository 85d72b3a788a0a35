"""Places: the surrogate id of a conversation and the platform ids that lead to it (D3)."""

import hashlib

from bot.ports import PlaceRef
from gate.domain import PlaceId
from ledger.kinds import Json


def place_id(ref: PlaceRef) -> PlaceId:
    """Return the surrogate id of a place that was first reached through `ref`."""
    parts = f"{ref.platform}\0{ref.tenant}\0{ref.channel}\0{ref.thread}"
    return PlaceId(hashlib.sha256(parts.encode()).hexdigest()[:16])


def place_ref_doc(ref: PlaceRef) -> dict[str, Json]:
    """Return `ref` as JSON values."""
    return {
        "platform": ref.platform,
        "tenant": ref.tenant,
        "channel": ref.channel,
        "thread": ref.thread,
    }
