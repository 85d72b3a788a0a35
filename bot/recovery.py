"""Recovery: from whatever the last process left to a state that can go on (C23, P7).

What expired is closed, then what was running is lost (or told by its boot id, D7). After that, in this
order, `bot.conversation` takes the messages that came meanwhile (one may be "stop"), goes on with queued work
and sends what was not sent. Nothing that was started is started again.
"""

import asyncio
import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from bot import control_words
from bot.core import Core
from bot.deadlines import close_due
from bot.execution import ending
from bot.execution.running import proposal_of
from bot.execution.settle import boot_id
from bot.fanout import recording
from bot.judging import AGREE
from bot.ports import Account, Ended, EndKind, Inbound, InboundKind, MessageRef, PlaceRef
from gate.domain import PlaceId, ProposalId
from gate.lifecycle import ActionState
from ledger import remains
from ledger.inbox import InboxItem
from ledger.views import ActionView

_LOST = "sayso ended while it ran"
_UNCHECKED = "sayso ended before the result of the check was recorded"


async def close_open_ends(core: Core) -> None:
    """Close what is over, and lose what was running."""
    close_due(core)
    many: dict[ProposalId, list[recording.Ran]] = {}
    started = core.queries.in_state(ActionState.STARTED)
    # Those that still boot answer late: asked one after the other, many would keep sayso from beginning.
    told = await asyncio.gather(*(_told_by_boot_id(core, view) for view in started))
    for view, known in zip(started, told, strict=True):
        ended = known or Ended(kind=EndKind.LOST, note=_LOST)
        proposal = proposal_of(view.action.id)
        if core.queries.head(proposal).fanout is not None:
            many.setdefault(proposal, []).append(recording.Ran(view=view, ended=ended))
            continue
        ending.record(core, view, ended)
        core.probe("loss.recorded")
    for proposal, lost in many.items():
        recording.record(core, proposal, lost, draws=True, halts=True)
        core.probe("loss.recorded")
    for action in remains.unchecked(core.ledger.reader()):
        # Whether its verify command ran is unknown too, and it need not be harmless to run it twice.
        _miss_check(core, core.queries.action(action))
        core.probe("miss.recorded")


def _miss_check(core: Core, view: ActionView) -> None:
    """Record that a check was due and its result will never be known; what follows waits for a new yes."""
    missed = Ended(kind=EndKind.LOST, note=_UNCHECKED)
    proposal = proposal_of(view.action.id)
    if core.queries.head(proposal).fanout is None:
        ending.record_check(core, view, missed)
    else:
        checked = recording.Checked(view=view, ended=missed)
        recording.record(core, proposal, [checked], draws=True, halts=True)


async def _told_by_boot_id(core: Core, view: ActionView) -> Ended | None:
    """Return the end of a reboot that took the bot down with it; None where it cannot be told."""
    if view.action.act == AGREE:
        return Ended(kind=EndKind.EXITED, exit_code=0)  # nothing ran that could have been cut off
    before = remains.boot_id(core.ledger.reader(), view.action.id)
    if before is None:
        return None
    now = await boot_id(core.executor, view.action.target)
    if now is None or now == before:
        return None
    return Ended(kind=EndKind.EXITED, exit_code=0, note="rebooted: the boot id is new")


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrived:
    """An inbound event as the inbox holds it; `place` is where it was said, `seen` as in `Turns.take`."""

    inbound: Inbound
    key: str
    place: PlaceId
    seen: int


_TOO_OLD = "That message reached sayso late. Nothing ran from it. Ask again."
_AHEAD = (
    "By the clock of this machine that message comes from the future. Nothing was done. Set the clock, see  "
    "sayso doctor,  and ask again."
)


def mistimed(core: Core, inbound: Inbound) -> str:
    """Return why a message is not acted on for its time; "" where it is.

    It waited too long, while sayso was down or on its way; or it was sent later than now, so that nothing
    that is counted from either time is to be trusted. A place that moved has moved for good, and what
    tightens only ever makes less happen.
    """
    if inbound.kind is InboundKind.MOVED:
        return ""
    fresh = inbound.kind is InboundKind.MESSAGE and not inbound.forwarded
    if fresh and control_words.tightens(inbound.text):
        return ""
    limit, age = timedelta(seconds=core.policy.approval_s), core.now() - inbound.sent_at
    if age < -limit:
        return _AHEAD
    return _TOO_OLD if age > limit else ""


# ---------------------------------------------------------------- the inbox's documents


def storable(text: str) -> str:
    """Return `text` with what no encoding can hold (half of a surrogate pair) replaced visibly."""
    try:
        text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def pack(inbound: Inbound, *, seen: int) -> str:
    """Return `inbound` as JSON for the inbox; `seen` as in `Turns.take`."""
    reply = inbound.reply_to
    return json.dumps(
        {
            "seen": seen,
            "event_id": inbound.event_id,
            "place": _place(inbound.place),
            "account": [
                inbound.account.platform,
                inbound.account.tenant,
                inbound.account.user,
                inbound.account.display,
                inbound.account.is_bot,
            ],
            "sent_at": inbound.sent_at.isoformat(),
            "kind": inbound.kind.value,
            "text": inbound.text,
            "reply_to": None if reply is None else [_place(reply.place), reply.message],
            "token": inbound.token,
            "forwarded": inbound.forwarded,
            "addressed": inbound.addressed,
            "position": inbound.position,
            "direct": inbound.direct,
            "moved_to": None if inbound.moved_to is None else _place(inbound.moved_to),
        }
    )


def unpack(item: InboxItem) -> Arrived:
    """Return what `pack` wrote."""
    doc = json.loads(item.document)
    return Arrived(inbound=_inbound(doc), key=item.key, place=PlaceId(item.place_key), seen=doc["seen"])


def _inbound(doc: dict[str, Any]) -> Inbound:
    platform, tenant, user, display, is_bot = doc["account"]
    reply = doc["reply_to"]
    return Inbound(
        event_id=doc["event_id"],
        place=_place_of(doc["place"]),
        account=Account(platform=platform, tenant=tenant, user=user, display=display, is_bot=is_bot),
        sent_at=datetime.fromisoformat(doc["sent_at"]),
        kind=InboundKind(doc["kind"]),
        text=doc["text"],
        reply_to=None if reply is None else MessageRef(place=_place_of(reply[0]), message=reply[1]),
        token=doc["token"],
        forwarded=doc["forwarded"],
        addressed=doc["addressed"],
        position=doc.get("position", 0),
        direct=doc.get("direct", False),
        moved_to=_place_of(doc["moved_to"]) if doc.get("moved_to") else None,
    )


def _place(ref: PlaceRef) -> list[str]:
    return [ref.platform, ref.tenant, ref.channel, ref.thread]


def _place_of(doc: list[str]) -> PlaceRef:
    platform, tenant, channel, thread = doc
    return PlaceRef(platform=platform, tenant=tenant, channel=channel, thread=thread)
