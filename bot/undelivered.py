"""What did not arrive, told where somebody waits for it (P10, F23).

A card is told of in its own place, what was sent elsewhere in the place where it was asked for; of other
messages nothing is told, since who should read that is not there. Makes batches; `bot.delivery` appends them.
"""

from collections.abc import Mapping

from bot.core import Core
from bot.outcome import Outcome
from bot.text import Text
from gate.domain import PlaceId, TurnId
from ledger.kinds import Batch, EffectKind, Json, Kind
from ledger.outbox import OutboxItem


def not_sent(core: Core, item: OutboxItem, why: str) -> Batch | None:
    """Return what tells that `item` was certainly not shown; None where nobody is told."""
    sent = item.body.get("undelivered")
    if not isinstance(sent, Mapping):
        return None
    return _told(core, sent, how="failed", why=why, words=f"✗ Not sent to #{sent['name']}: {why}.")


def unsure(core: Core, item: OutboxItem, why: str) -> Batch | None:
    """Return what tells that `item` may have been shown; None where nobody is told."""
    if item.kind is EffectKind.CARD:
        outcome = _outcome(core, item.place)
        outcome.say(
            Text.of(f"The card of #{item.subject} may not have arrived. show {item.subject} shows it again.")
        )
        return outcome.batch()
    sent = item.body.get("undelivered")
    if not isinstance(sent, Mapping):
        return None
    words = f"? It is unknown whether that arrived in #{sent['name']}. Look there before you send it again."
    return _told(core, sent, how="uncertain", why=why, words=words)


def _told(core: Core, sent: Mapping[str, Json], *, how: str, why: str, words: str) -> Batch:
    outcome = _outcome(core, PlaceId(str(sent["place"])))
    outcome.write(
        Kind.POST_UNDELIVERED,
        correlation_id=str(sent["commitment"]),
        body={"commitment": sent["commitment"], "name": sent["name"], "how": how},
        words={"why": why},
    )
    outcome.say(Text.of(words))
    return outcome.batch()


def _outcome(core: Core, place: PlaceId) -> Outcome:
    return Outcome(at=core.now(), place=place, turn=TurnId(core.ids.token()), new_nonce=core.ids.token)
