"""Keeping a runbook by words: "save that as a runbook called deploy blog" (N32, X8, D19).

What "that" is, is settled when it is asked for. The draft is shown whole, and kept once its phrase was typed:
the document stands in the entry, the file in the operator's own folder, and it counts at once. Whether a step
may run is asked again whenever it does.
"""

import re
from datetime import datetime
from functools import partial

from bot.acts.handler import ActRequest, Bound, NothingLeftError
from bot.answering import Speaker
from bot.control_words import bare
from bot.core import Core
from bot.loading.shelf import ShelfError
from bot.outcome import Outcome
from bot.runbooks import keeping
from bot.runbooks.keeping import NothingToKeepError
from bot.text import Text
from gate.domain import ProposalId, Reason, ReasonCode
from gate.resolve import promote_runbook
from gate.resolve.decision import Act, Confirm, Decision, Deny, Slots
from ledger.kinds import Json, Kind, RowIs

_KEEP = re.compile(
    r"(?:save|keep|store|remember|turn|make)\s+(?:that|this|it|these|those)"
    r"(?:\s+(?:steps|commands|last\s+steps))?\s+(?:as|into|to)?\s*(?:a\s+|the\s+)?(?:new\s+)?runbook"
    r"(?:[\s,:]+(?:called\s+|named\s+|as\s+)?(?P<name>\S.*?))?[\s.!]*",
    re.IGNORECASE,
)
_MAX_CHARS = 300
_QUOTES = "\"'`\u201c\u201d\u2018\u2019"


class KeepingActs:
    """Reads, resolves and performs the keeping of runbooks. Holds nothing."""

    acts = frozenset({Act.PROMOTE_RUNBOOK})

    def read(self, core: Core, speaker: Speaker, request_at: datetime) -> ActRequest | None:  # noqa: ARG002 - of the protocol
        """Return the runbook that the whole message asks to keep; None for anything else."""
        message = bare(speaker.said)
        found = _KEEP.fullmatch(message) if len(message) <= _MAX_CHARS else None
        if found is None:
            return None
        name = " ".join((found["name"] or "").strip(_QUOTES).split())
        slots = {"id": keeping.slug(name), "title": name} if name else {}
        return ActRequest(
            act=Act.PROMOTE_RUNBOOK,
            slots=slots,
            said=speaker.said,
            request_at=request_at,
            tool="promote_runbook",
        )

    def resolve(self, core: Core, outcome: Outcome, speaker: Speaker, request: ActRequest) -> Decision:
        """Draft the runbook and let the gate resolve it."""
        slots = dict(request.slots)
        if "from" not in slots:  # "that" is what it is now, whatever is done until a question is answered
            slots["from"] = "\n".join(keeping.newest(core, place=outcome.place, person=speaker.operator.id))
        name = keeping.slug(slots.get("id", ""))
        slots["id"] = name or slots.get("id", "")
        slots["title"] = slots.get("title") or name.replace("-", " ")
        try:
            made = keeping.draft(
                core,
                [ProposalId(one) for one in slots["from"].split("\n") if one],
                name=name or "unnamed",
                words=slots["title"] or "unnamed",
            )
        except NothingToKeepError as error:
            return _denied(slots, str(error))
        slots |= {"steps": "\n".join(made.steps), "document": made.text}
        if not slots["id"]:
            slots["title"] = ""
        decision = promote_runbook.resolve(_asking(slots), known=core.library.documents)
        if not isinstance(decision, Confirm):
            return decision
        try:
            faults = core.shelf.faults(name, made.text)
        except ShelfError as error:
            return _denied(slots, str(error))
        if faults:
            return _denied(slots, "\n".join(["That makes no sound runbook:", *faults]))
        return decision if not made.inputs else _with_inputs(decision, made.inputs)

    def perform(
        self, core: Core, outcome: Outcome, speaker: Speaker, request: ActRequest, bound: Bound
    ) -> None:
        """Record the runbook, and let it count once that stands."""
        slots, capability = bound.slots, bound.commitment
        name = slots["id"]
        try:
            digest = core.shelf.lay(name, capability, slots["document"])
        except ShelfError as error:
            raise NothingLeftError(f"{error}\nNothing was kept.") from error
        view = core.queries.commitment(bound.commitment)
        asked_by = speaker.operator.id if view is None else view.person
        proposals: list[Json] = [one for one in slots["from"].split("\n") if one]
        outcome.expect(RowIs("capability", capability, None))
        outcome.write(
            Kind.RUNBOOK_KEPT,
            correlation_id=bound.commitment,
            body={
                "capability": capability,
                "runbook": name,
                "title": slots["title"],
                "digest": digest,
                "proposals": proposals,
                "by": asked_by,
                "with_whom": None if speaker.operator.id == asked_by else speaker.operator.id,
                "place": outcome.place,
            },
            words={"document": slots["document"], "said": request.said},
        )
        outcome.after.append(partial(core.shelf.put, name, capability))
        outcome.say(
            Text.of(
                f"Kept: {name}. It runs step by step, and each step that needs a yes asks for it as before.",
                f"run runbook {name} on <target>  runs it. retire runbook {name}  takes it away.",
            )
        )


def _asking(slots: Slots) -> Slots:
    """Return the slots without those that are empty, which the gate asks for."""
    return {name: text for name, text in slots.items() if text or name in ("id", "title", "steps")}


def _with_inputs(decision: Confirm, inputs: tuple[str, ...]) -> Confirm:
    lines = [decision.question, "It asks for:", *(f"  {one}" for one in inputs)]
    return Confirm(
        slots=decision.slots, question="\n".join(lines), phrase=decision.phrase, because=decision.because
    )


def _denied(slots: Slots, text: str) -> Deny:
    return Deny(reason=Reason(code=ReasonCode.UNFIT, text=text), slots=slots)


HANDLER = KeepingActs()
