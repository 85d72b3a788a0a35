"""Looking at what is remembered from outside, while another process may be writing it: `sayso memory`.

Reads only; takes no lock. Whoever can read the ledger's file sees what was told in private too.
"""

from bot.lookup import queries
from bot.recollection import speaking_of
from bot.settings.config import Config
from gate.redact import redact
from ledger.beliefs import BeliefView
from ledger.queries import Queries

#: The config names files that hold secrets and holds none itself (D24); what looks like one is masked anyway.
_SECRETS: tuple[str, ...] = ()


def live(config: Config) -> list[dict[str, object]]:
    """Return the facts that count, oldest first."""
    with queries(config) as asked:
        return [] if asked is None else [_doc(one) for one in asked.live_beliefs()]


def about(config: Config, words: str) -> list[dict[str, object]]:
    """Return the facts that `words` speak of, with what they displaced, oldest first."""
    with queries(config) as asked:
        if asked is None:
            return []
        found = speaking_of(asked.live_beliefs(), words)
        return [_doc(one) for one in _with_past(asked, found)]


def everything(config: Config) -> list[dict[str, object]]:
    """Return every fact that was ever remembered, oldest first; the words of a forgotten one are gone."""
    with queries(config) as asked:
        return [] if asked is None else [_doc(one) for one in asked.all_beliefs()]


def _with_past(asked: Queries, found: tuple[BeliefView, ...]) -> list[BeliefView]:
    past = {old.id: old for one in found for old in asked.beliefs_about(one.subject)}
    return sorted(past.values(), key=lambda one: one.at)


def _doc(one: BeliefView) -> dict[str, object]:
    fact = one.fact
    return {
        "id": one.id,
        "about": None if fact is None else _masked(fact.about),
        "predicate": one.predicate,
        "object": None if fact is None else _masked(fact.object),
        "said": None if fact is None else _masked(fact.said),
        "source": one.source.value,
        "person": one.person,
        "private": one.private,
        "at": one.at.isoformat(),
        "state": one.state.value,
        "supersedes": one.supersedes or None,
    }


def _masked(text: str) -> str:
    return redact(text, extra=_SECRETS).text
