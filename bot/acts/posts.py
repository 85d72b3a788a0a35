"""Sending to another place: words, or something on record (K14, K16).

An operator's own literal request is their own, so it is carried out at once where it is certain what goes
where (C7); what is unsure is asked. The rules it owns: whoever reads it there is told who sent it from where;
secrets are masked; after it no bare word in that place answers an older card; and a send that does not arrive
is told where it was asked (F23).
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from bot.acts import artifacts, sendable
from bot.acts.handler import ActRequest, Bound
from bot.answering import Speaker
from bot.core import Core
from bot.outcome import Outcome
from bot.phrasing import plural, shortened
from bot.places import parse, place_name, place_ref
from bot.text import Text, block, muted
from gate.domain import PlaceId
from gate.redact import redact
from gate.resolve import post_artifact, send_outbound
from gate.resolve.decision import Act, Decision, Slots
from gate.resolve.post_artifact import ARTIFACT, OUTPUT, TEXT
from gate.resolve.send_outbound import LOOSE
from gate.resolve.times import Width
from ledger.kinds import Json, Kind

#: The tools that ask for it; see `gate.effects`.
_TOOLS = {Act.SEND_OUTBOUND: "send", Act.POST_ARTIFACT: "post"}


class PostActs:
    """Reads, resolves and performs what is sent elsewhere. Holds nothing."""

    acts = frozenset({Act.SEND_OUTBOUND, Act.POST_ARTIFACT})

    def read(self, core: Core, speaker: Speaker, request_at: datetime) -> ActRequest | None:
        """Return what the message asks to be sent; None where it asks for nothing of the kind."""
        found = sendable.parse(speaker.said, places=core.places)
        if found is None:
            return None
        act = Act.SEND_OUTBOUND if found.text else Act.POST_ARTIFACT
        slots = {"to": found.to}
        if found.text:
            slots |= {TEXT: found.text} | ({LOOSE: "yes"} if found.loose else {})
        else:
            slots[ARTIFACT] = found.artifact or artifacts.replied_to(core, speaker)
        return ActRequest(act=act, slots=slots, said=speaker.said, request_at=request_at, tool=_TOOLS[act])

    def resolve(self, core: Core, outcome: Outcome, speaker: Speaker, request: ActRequest) -> Decision:
        """Let the gate resolve what is sent, and where."""
        places = tuple(core.places)
        value = core.settings.value("outbound.allowed").value
        allowed = value if isinstance(value, tuple) else ()
        strict = core.settings.text("clarify.width") == Width.STRICT
        if request.act is Act.SEND_OUTBOUND:
            return send_outbound.resolve(request.slots, places=places, allowed=allowed, strict=strict)
        slots = {**request.slots, ARTIFACT: artifacts.called(request.slots.get(ARTIFACT, ""))}
        this = () if slots[ARTIFACT] else artifacts.meant(core, outcome, speaker)
        return post_artifact.resolve(
            slots,
            records=artifacts.read(core, outcome, speaker, [slots[ARTIFACT]] if slots[ARTIFACT] else this),
            this=this,
            places=places,
            allowed=allowed,
            strict=strict,
        )

    def perform(
        self,
        core: Core,
        outcome: Outcome,
        speaker: Speaker,
        request: ActRequest,  # noqa: ARG002 - what is bound says it all
        bound: Bound,
    ) -> None:
        """Leave it to delivery, close what a bare word there might answer, and say where it goes."""
        name = bound.slots["to"]
        place = core.place_of(parse(core.places[name]))
        message = Text.of(muted(f"{speaker.operator.id}, from {_whence(core, outcome, speaker)}:"))
        sent = outcome.said(message + _shown(core, bound.slots))
        told: Json = {"place": outcome.place, "name": name, "commitment": bound.commitment}
        outcome.effects.append(replace(sent, place=place, body={**sent.body, "undelivered": told}))
        _close_windows(core, outcome, place)
        outcome.say(Text.of(f"Goes to #{name}:", *_summary(core, bound.slots), muted(_OR_ELSE)))


HANDLER = PostActs()

_OR_ELSE = "If it does not arrive, that is said here."
#: How much of what was sent is said again where it was asked.
_LINES, _CHARS = 3, 200


def _whence(core: Core, outcome: Outcome, speaker: Speaker) -> str:
    """Return what the place of a turn is called elsewhere; of a direct message no more than that."""
    if speaker.alone:
        return "a direct message"
    name = next((name for name, at in core.places.items() if core.place_of(parse(at)) == outcome.place), "")
    if name or place_ref(core, outcome.place) is not None:
        return f"#{name}" if name else place_name(core, outcome.place)
    # Nobody spoke there before this very message.
    return "another place" if outcome.account is None else f"another place on {outcome.account.platform}"


def _masked(core: Core, text: str) -> str:
    return redact(text, extra=core.secrets).text


def _shown(core: Core, slots: Slots) -> Text:
    text = Text.of(*_masked(core, slots[TEXT]).splitlines())
    output = slots.get(OUTPUT, "")
    return text + Text.of(block(_masked(core, output))) if output else text


def _summary(core: Core, slots: Slots) -> Sequence[str]:
    lines = _masked(core, slots[TEXT]).splitlines()
    found = [shortened(line, most=_CHARS) for line in lines[:_LINES]]
    if len(lines) > _LINES:
        found.append(f"and {plural(len(lines) - _LINES, 'more line')}")
    output = slots.get(OUTPUT, "")
    return (
        [*found, f"with {plural(len(output.splitlines()), 'line')} of command and output"]
        if output
        else found
    )


def _close_windows(core: Core, outcome: Outcome, place: PlaceId) -> None:
    """Let no bare word in `place` answer an older card: it may answer what was just said there (X2)."""
    outcome.write(
        Kind.TURN_ANSWERED,
        body={
            "turn": core.ids.token(),
            "place": place,
            "shows": [],
            "window": None,
            "closes_windows": True,
        },
    )
