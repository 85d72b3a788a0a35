"""Watches out of messages: read, resolved by `gate.resolve.watch`, and kept as a job that comes again.

What is kept is a sentence that reads back as the same watch; it is read and judged anew at every look, by
`bot.signals.watching`. What is not certainly read-only there and then is refused at once: nobody says yes to
it every five minutes.
"""

from datetime import datetime

from bot.acts import jobs
from bot.acts.handler import ActRequest, Bound
from bot.answering import Speaker
from bot.core import Core
from bot.judging import judge
from bot.outcome import Outcome
from bot.phrasing import duration, listed
from bot.proposing import Denied, bind
from bot.signals import checks
from bot.signals.watch_words import Wanted, parse
from bot.text import Text
from gate.domain import ProposalId, Reason, ReasonCode, Risk, RouteKind
from gate.resolve import watch
from gate.resolve.decision import Act, Decision, Slots

#: Stands for the id that a proposal would have; none is made.
_NO_PROPOSAL = ProposalId("------")


class WatchActs:
    """Reads, resolves and performs watches. Holds nothing."""

    acts = frozenset({Act.WATCH})

    def read(self, core: Core, speaker: Speaker, request_at: datetime) -> ActRequest | None:
        """Return the watch that the whole message asks for; None for anything else."""
        wanted = read_back(core, speaker.said)
        if wanted is None:
            return None
        return ActRequest(
            act=Act.WATCH,
            slots=_slots(_placed(core, wanted)),
            said=speaker.said,
            request_at=request_at,
            tool="watch",
        )

    def resolve(self, core: Core, outcome: Outcome, speaker: Speaker, request: ActRequest) -> Decision:  # noqa: ARG002 - of the protocol
        """Let the gate resolve a watch, with whether it can be looked at."""
        wanted = wanted_of(request.slots)
        return watch.resolve(
            _slots(wanted),
            targets=[str(name) for name in core.inventory.targets],
            problem=problem(core, wanted) if wanted.target else None,
            now=outcome.at,
        )

    def perform(
        self, core: Core, outcome: Outcome, speaker: Speaker, request: ActRequest, bound: Bound
    ) -> None:
        """Record the watch in this place, and say what comes of it."""
        job = jobs.make(core, outcome, speaker, request, bound)
        wanted = wanted_of(bound.slots)
        what = wanted.sentence.removeprefix("tell me when ").removeprefix("watch ")
        every = duration(wanted.every_s)
        outcome.say(
            Text.of(
                f"✓ Watching: {what}. It looks every {every} and tells here when that changes. "
                f"stop watching {job} ends it."
            )
        )


def read_back(core: Core, text: str) -> Wanted | None:
    """Return the watch that `text` asks for here; None where it asks for none."""
    names = {str(name).lower() for name in core.inventory.targets}
    return parse(
        text,
        known=names | {f"@{tag}".lower() for tag in core.inventory.tags},
        services={name.lower() for name in core.inventory.services},
    )


def _placed(core: Core, wanted: Wanted) -> Wanted:
    """Return `wanted` on the one target that it can only mean, where none was said."""
    if wanted.target:
        return wanted
    service = core.inventory.services.get(wanted.about)
    hosts = list(map(str, service.on if service is not None else core.inventory.targets))
    return wanted if len(hosts) != 1 else wanted.on(hosts[0])


def problem(core: Core, wanted: Wanted) -> Reason | None:
    """Return why `wanted` is not looked at; None where it is."""
    found = core.inventory.select(wanted.target)
    if not isinstance(found, tuple):
        return Reason(code=found.reason.code, text=f"Nothing is watched. {found.reason.text}")
    for target in found:
        draft = checks.draft_of(core, wanted, target=str(target.id), purpose=wanted.text)
        if draft is None:
            text = f"Nothing is watched: nothing in the library looks at that ({wanted.watched})."
            return Reason(code=ReasonCode.CANNOT_PLACE, text=text)
        bound = bind(core, (draft,), proposal=_NO_PROPOSAL)
        if isinstance(bound, Denied):
            return Reason(code=bound.reason.code, text=f"Nothing is watched. {bound.reason.text}")
        judged = judge(core, bound[0])
        if judged.verdict.risk is not Risk.READ_ONLY or not judged.verdict.auto_run:
            text = (
                f"Nothing is watched: {draft.command} is not certainly read-only "
                f"({judged.verdict.reasons[0]}), and nobody would say yes to every look."
            )
            return Reason(code=ReasonCode.CANNOT_PLACE, text=text)
        if judged.route.kind is not RouteKind.AUTO:
            why = judged.route.because or "a yes is asked for everything"
            text = (
                f"Nothing is watched on {listed([str(target.id)])}: every look would wait for a yes ({why})."
            )
            return Reason(code=ReasonCode.CANNOT_PLACE, text=text)
    return None


def _slots(wanted: Wanted) -> dict[str, str]:
    return {
        "watched": wanted.watched.value,
        "target": wanted.target,
        "about": wanted.about,
        "limit": str(wanted.limit),
        "every_s": str(wanted.every_s),
        "text": wanted.text,
    }


def wanted_of(slots: Slots) -> Wanted:
    """Return the watch that slots hold."""
    return Wanted(
        watched=watch.Watched(slots["watched"]),
        target=slots.get("target", "").lower(),
        about=slots.get("about", ""),
        limit=int(slots["limit"]),
        every_s=int(slots["every_s"]),
    )


HANDLER = WatchActs()
