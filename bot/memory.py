"""What sayso remembers, for the parts that ask: the events that times are counted from, facts about a thing.

Reads only; `bot.acts.facts` is what writes. A fact that was told in a direct message is shown to its teller
alone, where nobody else listens.
"""

import hashlib
import hmac

from bot.core import Core
from bot.recollection import Recalled, speaking_of
from gate.domain import PersonId
from gate.when import Remembered
from gate.when.naming import bare
from gate.when.text import plain
from ledger.beliefs import BeliefView


def recall(core: Core, person: PersonId, *, alone: bool) -> Recalled:
    """Return what `person` may be told; nothing, marked as failed, where it cannot be read (K4).

    Args:
        alone: nobody but sayso listens, so that what they told in private counts too.
    """
    return core.recollection.recall(
        core.queries, person=person if alone else None, zone=core.zone_for(person), now=core.now()
    )


def anchors(core: Core, person: PersonId, *, alone: bool = False) -> Remembered:
    """Return the remembered events that the times of `person` may be counted from.

    The id of an anchor is that of its belief, its first alias what it was called when it was told. Where
    memory cannot be read there are none (K4); `recall` tells that apart from remembering nothing.
    """
    return recall(core, person, alone=alone).remembered


def about(core: Core, person: PersonId, words: str, *, alone: bool) -> tuple[BeliefView, ...]:
    """Return the facts that `words` speak of and that `person` may be told, oldest first."""
    return speaking_of(recall(core, person, alone=alone).beliefs, words)


def subject_key(core: Core, words: str, *, owner: PersonId | None) -> str:
    """Return what the record names a subject by: the same for the same name, and no word of it.

    Args:
        owner: whose private fact it is; None for one that everybody sees.
    """
    text = f"belief\n{owner or ''}\n{plain(bare(words))}"
    return hmac.new(core.token_key, text.encode("utf-8", "surrogateescape"), hashlib.sha256).hexdigest()[:32]
