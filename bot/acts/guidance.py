"""Teaching by words: "from now on …", "guidance confirm <id>", "guidance reject <id> why" (K55, X8).

An instruction is held first, whoever said it; one entry a change, the words apart from it. What it may say,
and that confirming takes a phrase, is the gate's.
"""

import re
from datetime import datetime

from bot.acts.handler import ActRequest, Bound, NothingLeftError
from bot.answering import Speaker
from bot.control_words import bare
from bot.core import Core
from bot.outcome import Outcome
from bot.text import Text
from gate.redact import redact
from gate.resolve import set_guidance
from gate.resolve.decision import Act, Decision, Slots
from gate.resolve.set_guidance import Op, Stored
from ledger.guidance import GuidanceState
from ledger.kinds import Kind, RowIs

_TEACH = re.compile(
    r"(?:from\s+now\s+on|guidance\s+add)(?:\s*[,:]\s*|\s+|$)(?P<text>.*)", re.IGNORECASE | re.DOTALL
)
_DECIDE = re.compile(
    r"(?:guidance\s+(?P<op>confirm|reject)|(?P<verb>confirm|reject)\s+guidance)\s+#?(?P<id>[a-z0-9]{4,8})"
    r"(?:[\s,:;.\u2013\u2014-]+(?:because\s+)?(?P<why>\S.*?))?[\s.!]*",
    re.IGNORECASE | re.DOTALL,
)
_OPEN = (GuidanceState.HELD, GuidanceState.CONFIRMED)
_BEFORE = {Kind.GUIDANCE_CONFIRMED: (GuidanceState.HELD,), Kind.GUIDANCE_REJECTED: _OPEN}


class GuidanceActs:
    """Reads, resolves and performs changes of what is taught. Holds nothing."""

    acts = frozenset({Act.SET_GUIDANCE})

    def read(self, core: Core, speaker: Speaker, request_at: datetime) -> ActRequest | None:  # noqa: ARG002 - of the protocol
        """Return the change that the whole message asks for; None for anything else."""
        slots = _slots(bare(speaker.said))
        if slots is None:
            return None
        return ActRequest(
            act=Act.SET_GUIDANCE, slots=slots, said=speaker.said, request_at=request_at, tool="guidance"
        )

    def resolve(self, core: Core, outcome: Outcome, speaker: Speaker, request: ActRequest) -> Decision:  # noqa: ARG002 - of the protocol
        """Let the gate resolve a change."""
        view = core.queries.one_guidance(request.slots.get("guidance", ""))
        found = None
        if view is not None and view.state in _OPEN:
            found = Stored(text=view.text, confirmed=view.state is GuidanceState.CONFIRMED)
        return set_guidance.resolve(request.slots, found=found, secrets=core.secrets)

    def perform(
        self, core: Core, outcome: Outcome, speaker: Speaker, request: ActRequest, bound: Bound
    ) -> None:
        """Record the change and say what it means."""
        match bound.slots["op"]:
            case Op.HOLD:
                _hold(core, outcome, speaker, request, bound)
            case Op.CONFIRM:
                _decide(core, outcome, speaker, request, bound, kind=Kind.GUIDANCE_CONFIRMED)
            case _:
                _decide(core, outcome, speaker, request, bound, kind=Kind.GUIDANCE_REJECTED)


def _slots(message: str) -> Slots | None:
    if found := _DECIDE.fullmatch(message):
        slots = {"op": (found["op"] or found["verb"]).lower(), "guidance": found["id"].lower()}
        return slots | ({"why": found["why"]} if found["why"] else {})
    if found := _TEACH.fullmatch(message):
        return {"op": Op.HOLD, "text": found["text"].strip()}
    return None


def _hold(core: Core, outcome: Outcome, speaker: Speaker, request: ActRequest, bound: Bound) -> None:
    name = core.ids.short_id()
    outcome.expect(RowIs("guidance", name, None))
    outcome.write(
        Kind.GUIDANCE_HELD,
        correlation_id=bound.commitment,
        body={"guidance": name, "by": speaker.operator.id, "place": outcome.place},
        words={"text": bound.slots["text"], "said": request.said},
    )
    shown = redact(bound.slots["text"], extra=core.secrets).text
    outcome.say(
        Text.of(
            f'Held as #{name}: "{shown}". It changes nothing until it is confirmed.',
            f"guidance confirm {name}  lets it count, guidance reject {name}  drops it.",
        )
    )


def _decide(
    core: Core, outcome: Outcome, speaker: Speaker, request: ActRequest, bound: Bound, *, kind: Kind
) -> None:
    name = bound.slots["guidance"]
    view = core.queries.one_guidance(name)
    if view is None or view.state not in _BEFORE[kind]:  # decided since the phrase was asked for
        raise NothingLeftError(f"#{name} does not wait any more. Nothing changed.")
    outcome.expect(RowIs("guidance", name, view.state.value))
    why = {"why": bound.slots["why"]} if "why" in bound.slots else {}
    outcome.write(
        kind,
        correlation_id=bound.commitment,
        body={"guidance": name, "by": speaker.operator.id, "place": outcome.place},
        words={"said": request.said, **why},
    )
    if kind is Kind.GUIDANCE_CONFIRMED:
        outcome.say(Text.of(f"#{name} counts from now on. guidance reject {name}  takes it away."))
    else:
        outcome.say(Text.of(f"#{name} is gone. It never counts again."))


HANDLER = GuidanceActs()
