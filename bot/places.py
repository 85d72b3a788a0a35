"""Places: the surrogate id of a conversation and the platform ids that lead to it (D3)."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from bot.ports import PlaceRef
from gate.domain import PlaceId

if TYPE_CHECKING:
    from bot.core import Core
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


def parse(text: str) -> PlaceRef:
    """Return the place that the config writes as "platform:tenant:channel", or with ":thread" after it."""
    platform, tenant, channel, *thread = text.split(":", 3)
    return PlaceRef(platform=platform, tenant=tenant, channel=channel, thread="".join(thread))


def place_ref(core: Core, place: PlaceId) -> PlaceRef | None:
    """Return where a place is: as heard of last, else as the config names it; None where neither knows it."""
    found = core.queries.place(place)
    if found is None:
        return core.known_places.get(place)
    platform, tenant, channel, thread = found
    return PlaceRef(platform=platform, tenant=tenant, channel=channel, thread=thread)


def place_name(core: Core, place: PlaceId) -> str:
    """Return what a place is called where it is only spoken of."""
    ref = place_ref(core, place)
    if ref is None:
        return "another place"
    thread = f", thread {ref.thread}" if ref.thread else ""
    return f"{ref.channel} on {ref.platform}{thread}"
