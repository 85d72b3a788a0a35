"""Hearing: whether words answer what waits or ask for something of their own.

The gate's detector knows what waits and no grammar of requests; the planner knows that grammar and not what
waits. Both are asked here. The rule it owns: words that are without doubt a request for something else never
count as a yes, whatever of it also stands in what waits ("run echo ok on web1" beside another echo).
"""

from collections.abc import Callable, Sequence

from bot import asking
from bot.core import Core
from bot.planning.drafts import ActionDraft
from gate import assent
from gate.domain import Assent, AssentVerdict

#: Words of an answer that says neither yes nor no; a task that is told takes more.
_SHORT = 4
_REQUEST = Assent(verdict=AssentVerdict.OTHER, because="a request of its own")


def reader(core: Core) -> Callable[[str, Sequence[str]], Assent]:
    """Return how the gate reads what people say, beside the descriptions of what waits."""

    def read(text: str, pending: Sequence[str]) -> Assent:
        said = _said(core, text, pending)
        if said.verdict is AssentVerdict.OTHER:
            return said
        asked = asking.requested(core, text)
        if said.verdict is AssentVerdict.GRANT:
            return said if _are_only_a_yes(core, asked, pending) else _REQUEST
        # Nothing else would run anything, so it gives way to a request ("stop caddy on web1").
        if asked or (not pending and (asking.can_place(core, text) or _is_for_the_model(core, text, said))):
            return _REQUEST
        return said

    return read


def _is_for_the_model(core: Core, text: str, said: Assent) -> bool:
    """Whether a model may make something of words that answer nothing: not of a no, nor of "maybe later"."""
    return core.thinker is not None and said.verdict is AssentVerdict.AMBIGUOUS and len(text.split()) > _SHORT


def _are_only_a_yes(core: Core, drafts: Sequence[ActionDraft], pending: Sequence[str]) -> bool:
    """Whether this "request" is what waits, word for word, or a yes with a place ("run it on web1")."""
    return all(
        all(f"{draft.command} on {where}" in pending for where in draft.target_words)
        or _is_yes(core, f"run {draft.command}")
        for draft in drafts
    )


def _is_yes(core: Core, words: str) -> bool:
    return _said(core, words, ()).verdict is AssentVerdict.GRANT


def _said(core: Core, text: str, pending: Sequence[str]) -> Assent:
    return assent.read(
        text, pending=pending, lexicons=core.lexicons, bare_ack_grants=core.policy.bare_ack_grants
    )
