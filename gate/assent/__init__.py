"""Assent: what an answer says about what is pending (N21-N29, D18).

Whole message, rules only, the same answer for the same words. A yes grants only when every word of the
message is accounted for as consent, politeness, address or reference to the pending thing; any refusal,
condition, hedge, deferral, question or unknown content wins over it. Who spoke, when and where is not judged
here, nor whether the action needs a phrase: that is gate.decide. docs/assent.md explains it to operators.
"""

from collections.abc import Sequence
from dataclasses import replace

from gate.assent.case import Case
from gate.assent.judge import judge
from gate.assent.lexicon import Lexicons, build
from gate.assent.match import OURSELVES, Reader, Reading
from gate.assent.normalise import Kind, Message, read_message, words_of
from gate.assent.pending import Pending, pending_of
from gate.assent.senses import Sense
from gate.assent.units import Sort, Unit
from gate.domain import Assent, AssentVerdict

__all__ = ["Lexicons", "build", "read"]


def read(
    text: str,
    *,
    pending: Sequence[str] = (),
    context: str = "",
    lang: str = "",
    lexicons: Lexicons,
    bare_ack_grants: bool = False,
) -> Assent:
    """Say what `text` means for the pending actions.

    Args:
        text: the message as the platform gave it.
        pending: one description for each pending action, in order ("systemctl restart caddy on web1").
        context: the question as it was shown; used only where `pending` is empty.
        lang: a language code that wins when several languages read the message equally well.
        lexicons: the words of every language.
        bare_ack_grants: whether "ok", "k" or a thumb of acknowledgement alone is a yes.
    """
    message = read_message(text)
    if _is_for_somebody_else(message):
        return Assent(verdict=AssentVerdict.OTHER, because="is addressed to somebody else")
    known = replace(pending_of(tuple(pending), context), restraining=lexicons.restraining)
    pointed = _pointed_at(message, known)
    best = Reader(message.tokens, lexicons=lexicons, pending=known).best()
    judged = [
        (
            reading,
            judge(
                Case(
                    message=message,
                    units=_point(reading.units, pointed),
                    pending=known,
                    bare_ack_grants=bare_ack_grants,
                    restraining=lexicons.restraining,
                )
            ),
        )
        for reading in best
    ]
    found = _agree(judged, lang)
    return replace(found, selects=()) if known.asked else found


def _is_for_somebody_else(message: Message) -> bool:
    """Tell whether the first word names a person or channel that is not this bot."""
    first = next((token for token in message.tokens if token.kind is not Kind.BREAK), None)
    return (
        first is not None and first.kind is Kind.MENTION and not any(name in first.text for name in OURSELVES)
    )


def _pointed_at(message: Message, pending: Pending) -> frozenset[int]:
    """Return which of several actions the quoted lines are about; empty when that is not certain."""
    words = [token for token in words_of(message.quoted) if token.kind is not Kind.EMOJI]
    named = [pending.terms.get(token.text, frozenset()) for token in words]
    if not named or not all(named) or pending.count == 1:
        return frozenset()
    meant = frozenset.intersection(*named) if pending.count else frozenset.union(*named)
    return frozenset() if meant == pending.everything else meant


def _point(units: tuple[Unit, ...], items: frozenset[int]) -> tuple[Unit, ...]:
    """Let "this one" below a quote mean what was quoted."""
    if not items:
        return units
    return tuple(
        replace(unit, sort=Sort.ITEM, sense=None, items=items) if unit.sense is Sense.REF else unit
        for unit in units
    )


def _agree(judged: Sequence[tuple[Reading, Assent]], lang: str) -> Assent:
    """Return what the likeliest languages agree on; a grant needs all of them and no refusal in any."""
    judged = [one for one in judged if not _is_idle(one[0])] or judged
    most = max(reading.evidence for reading, _ in judged)
    hinted = [verdict for reading, verdict in judged if reading.language == lang]
    likely = hinted or [verdict for reading, verdict in judged if reading.evidence == most]
    found = min(likely, key=lambda one: _WEIGHT.index(one.verdict))
    said = {one.verdict for one in likely}
    if AssentVerdict.GRANT in said and len(said) > 1 and found.verdict is not AssentVerdict.PARTIAL:
        return Assent(verdict=AssentVerdict.AMBIGUOUS, because=f"means two things: yes, and {found.because}")
    if found.verdict is AssentVerdict.GRANT:
        no = next((one for _, one in judged if one.verdict is AssentVerdict.REFUSE), None)
        if no is not None:
            because = f"means two things: yes, and {no.because}"
            return Assent(verdict=AssentVerdict.AMBIGUOUS, because=because)
    return found


def _is_idle(reading: Reading) -> bool:
    """Tell whether a language finds only small words: German "los" is an article in Spanish."""
    said = [unit for unit in reading.units if unit.sort is not Sort.BREAK]
    return all(unit.sense in _IDLE for unit in said)


_IDLE = frozenset(
    {
        Sense.FILLER,
        Sense.POLITE,
        Sense.ADDRESS,
        Sense.AHEAD,
        Sense.AND,
        Sense.REF,
        Sense.NOTE,
        Sense.ME,
        Sense.IS,
        Sense.TELLS,
        Sense.TOLD,
        Sense.BEFORE_NAME,
    }
)

#: Where languages differ about a message that no language grants, the first of these counts.
_WEIGHT = (
    AssentVerdict.REFUSE,
    AssentVerdict.PARTIAL,
    AssentVerdict.CHANGE,
    AssentVerdict.AMBIGUOUS,
    AssentVerdict.OTHER,
    AssentVerdict.GRANT,
)
