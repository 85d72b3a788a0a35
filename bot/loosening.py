"""Loosening: what lets the gate ask for less (D19, X12).

It takes a typed phrase, typed by a second person where two operators exist, and at least one of the two must
be somebody who may approve destructive work everywhere. It never goes below what the owner's config says.
Tightening, which takes one word, stands in bot.controls.
"""

from datetime import timedelta

from bot import commands
from bot.answering import Speaker
from bot.controls import AUTO_OFF, NEVER_AUTO, POSTURE, STOPPED, deny, set_switch
from bot.core import Core, is_tighter
from bot.outcome import Outcome
from bot.phrasing import listed
from bot.signals import maintenance
from bot.text import Text, strong
from gate import authority, phrases
from gate.domain import AGENT, PersonId, Reason, ReasonCode, Risk, Target, TargetId, TargetKind
from gate.policy import Operator, Policy
from ledger.codec import instant
from ledger.kinds import Json, Kind
from ledger.views import LooseningView

Loosening = commands.Resume | commands.AutoOn | commands.AllowAuto | commands.SetPosture


def steer(core: Core, outcome: Outcome, speaker: Speaker, command: Loosening) -> None:
    """Carry out a control word that may loosen."""
    match command:
        case commands.Resume():
            resume(core, outcome, speaker)
        case commands.AutoOn():
            auto_on(core, outcome, speaker)
        case commands.AllowAuto(target=target):
            allow_auto(core, outcome, speaker, target)
        case commands.SetPosture():
            set_posture(core, outcome, speaker, command)


def set_posture(core: Core, outcome: Outcome, speaker: Speaker, wanted: commands.SetPosture) -> None:
    """Tighten the posture at once, or ask for the phrase that loosens it."""
    present = core.policy_now().posture
    posture = wanted.posture
    if posture is present:
        outcome.say(Text.of(f"The posture is {present.value} already."))
    elif is_tighter(posture, present):
        set_switch(core, outcome, speaker, POSTURE, value=posture.value)
        outcome.say(Text.of(f"Posture is {posture.value} from now on."))
    elif core.posture_is_set and is_tighter(core.policy.posture, posture):
        outcome.say(
            Text.of(
                f"The owner's config says {core.policy.posture.value}; nothing said here goes below that.",
                "Change policy.posture there and restart.",
            )
        )
    else:
        _ask_to_loosen(
            core, outcome, speaker, wants={POSTURE: posture.value}, phrase=f"set posture {posture.value}"
        )


def resume(core: Core, outcome: Outcome, speaker: Speaker) -> None:
    """Ask for the phrase that lifts stop and auto off."""
    live = core.queries.switches()
    wants: dict[str, Json] = {}
    if live.stopped:
        wants[STOPPED] = False
    if live.auto_off:
        wants[AUTO_OFF] = False
    if not wants:
        outcome.say(Text.of("Nothing is stopped."))
        return
    _ask_to_loosen(core, outcome, speaker, wants=wants, phrase="resume sayso")


def allow_auto(core: Core, outcome: Outcome, speaker: Speaker, target: str) -> None:
    """Ask for the phrase that lets things start by themselves on a target again."""
    found = core.inventory.select(target)
    if not isinstance(found, tuple):
        deny(outcome, speaker, found.reason)
        return
    named_ones = {one.id for one in found}
    held = core.queries.switches().never_auto_act
    left: list[Json] = [one for one in held if one not in named_ones]
    if len(left) == len(held):
        outcome.say(Text.of(f"Nothing said here holds {target} back. What the config holds back stays."))
        return
    _ask_to_loosen(core, outcome, speaker, wants={NEVER_AUTO: left}, phrase=f"allow auto on {target}")


def end_maintenance(core: Core, outcome: Outcome, speaker: Speaker, target: str) -> None:
    """Ask for the phrase that lets signals about a target through before their time."""
    found = core.inventory.select(target)
    if not isinstance(found, tuple):
        deny(outcome, speaker, found.reason)
        return
    left = maintenance.without(core, {str(one.id) for one in found}, outcome.at)
    if left is None:
        outcome.say(Text.of(f"There is no maintenance of {target}."))
        return
    _ask_to_loosen(
        core, outcome, speaker, wants={maintenance.SWITCH: left}, phrase=f"end maintenance of {target}"
    )


def auto_on(core: Core, outcome: Outcome, speaker: Speaker) -> None:
    """Ask for the phrase that lifts auto off."""
    if not core.queries.switches().auto_off:
        outcome.say(Text.of("Auto is on already."))
        return
    _ask_to_loosen(core, outcome, speaker, wants={AUTO_OFF: False}, phrase="turn auto on")


def _ask_to_loosen(
    core: Core, outcome: Outcome, speaker: Speaker, *, wants: dict[str, Json], phrase: str
) -> None:
    if not _somebody_may(core.policy, speaker.operator):
        deny(outcome, speaker, _no_loosening(core.policy))
        return
    end_loosenings(core, outcome, how="superseded")
    outcome.write(
        Kind.LOOSENING_ASKED,
        body={
            "loosening": core.ids.short_id(),
            "place": outcome.place,
            "person": speaker.operator.id,
            "phrase": phrase,
            "wants": wants,
            "deadline_at": instant(outcome.at + timedelta(seconds=core.policy.approval_s)),
        },
        words={"said": speaker.said},
    )
    outcome.say(Text.of([f"{who_types(core.policy, speaker.operator)}:  ", strong(phrase)]))


def loosen(core: Core, outcome: Outcome, speaker: Speaker, *, seen: int) -> bool:
    """Carry out a loosening whose phrase was just typed; False when the words are no such phrase.

    Args:
        seen: the newest entry that could be read when it was typed; a phrase that was not asked for yet is
            the request for it, sent twice.
    """
    for asked in core.queries.loosenings():
        if not phrases.matches(speaker.said, asked.phrase) or asked.deadline_at <= outcome.at:
            continue
        if core.queries.loosening_asked(asked.id) <= seen:
            _loosen_now(core, outcome, speaker, asked)
            return True
    return False


def _loosen_now(core: Core, outcome: Outcome, speaker: Speaker, asked: LooseningView) -> None:
    reason = refusal(core, asked.person, speaker)
    if reason is not None:
        deny(outcome, speaker, reason)
        return
    for name, value in asked.wants.items():
        set_switch(core, outcome, speaker, name, value=value)  # type: ignore[arg-type] # stored JSON
    outcome.write(
        Kind.LOOSENING_ENDED,
        body={
            "loosening": asked.id,
            "how": "done",
            "by": speaker.operator.id,
            "alone": speaker.operator.id == asked.person,
        },
        words={"said": speaker.said},
    )
    alone = " No second person." if speaker.operator.id == asked.person else ""
    outcome.say(Text.of(f"Done, by {speaker.operator.id}.{alone}"))
    outcome.work.extend(core.queries.unfinished())


def end_loosenings(core: Core, outcome: Outcome, *, how: str) -> None:
    """End every loosening that waits."""
    for asked in core.queries.loosenings():
        outcome.write(
            Kind.LOOSENING_ENDED, body={"loosening": asked.id, "how": how, "by": AGENT, "alone": False}
        )


def may_loosen(operator: Operator) -> bool:
    """Whether `operator` may loosen the gate: whoever may approve anything everywhere."""
    anything = Target(id=TargetId("*"), kind=TargetKind.LOCAL)
    return any(
        line.risk is Risk.DESTRUCTIVE and "*" in line.targets for line in operator.may
    ) and authority.covers(operator, target=anything, risk=Risk.DESTRUCTIVE)


def second_people(policy: Policy, asker: Operator) -> list[str]:
    """Return who may type the phrase after `asker`: one of the two must be somebody who may loosen (D19)."""
    return [
        str(one.id)
        for one in policy.operators
        if one.id != asker.id and (may_loosen(asker) or may_loosen(one))
    ]


def who_types(policy: Policy, asker: Operator) -> str:
    """Return who has to type the phrase that `asker` caused, as the start of a line that ends with it."""
    others = second_people(policy, asker)
    return f"This loosens the gate, so {listed(others)} types" if others else "This loosens the gate. Type"


def refusal(core: Core, asked_by: PersonId, speaker: Speaker) -> Reason | None:
    """Return why the phrase of what `asked_by` wants does not count from `speaker`; None where it does."""
    asker = core.operator(asked_by)
    if asker is None or not (may_loosen(asker) or may_loosen(speaker.operator)):
        return _no_loosening(core.policy)
    if len(core.policy.operators) > 1 and speaker.operator.id == asked_by:
        others = second_people(core.policy, asker)
        return Reason(
            code=ReasonCode.SECOND_PERSON,
            text=f"Another person has to type it: {listed(others)}. Nothing changed.",
        )
    return None


def _somebody_may(policy: Policy, asker: Operator) -> bool:
    """Whether `asker`, alone or with a second person where there is one, can loosen at all."""
    return bool(second_people(policy, asker)) if len(policy.operators) > 1 else may_loosen(asker)


def _no_loosening(policy: Policy) -> Reason:
    who = listed([str(one.id) for one in policy.operators if may_loosen(one)]) or "nobody"
    return Reason(
        code=ReasonCode.NOT_AUTHORISED,
        text=f"Loosening takes an operator who may approve destructive work everywhere: {who}.",
    )
