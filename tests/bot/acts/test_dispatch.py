"""From words to an act: recorded asked about with one button an option, done once (K1 to K43)."""

import json
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from bot.acts.dispatch import MAX_OPEN
from bot.acts.handler import ActHandler, ActRequest, Bound, NothingLeftError
from bot.answering import Speaker
from bot.core import Core
from bot.outcome import Outcome
from bot.text import Text
from gate.domain import Reason, ReasonCode, Risk
from gate.lifecycle import CommitmentState
from gate.policy import Permission
from gate.resolve.decision import Act, Allow, Clarify, Confirm, Decision, Deny, Option
from ledger.views import PRUNED
from tests.kit import Kit, Shown, conversation, person

TWO = (person("ana"), person("kim"))


class Bells:
    """Rings bells: "ring the small bell" is certain, "ring" is not, the big one wants its phrase."""

    acts = frozenset({Act.SEND_OUTBOUND})

    def __init__(self) -> None:
        self.asked_at: list[datetime] = []

    def read(self, _core: Core, speaker: Speaker, request_at: datetime) -> ActRequest | None:
        verb, _, rest = speaker.said.partition(" ")
        if verb != "ring":
            return None
        return ActRequest(
            act=Act.SEND_OUTBOUND,
            slots={"to": rest, "text": "ding"},
            said=speaker.said,
            request_at=request_at,
            tool="send",
        )

    def resolve(self, _core: Core, _outcome: Outcome, _speaker: Speaker, request: ActRequest) -> Decision:
        self.asked_at.append(request.request_at)
        bell = request.slots["to"]
        match bell:
            case "small":
                return Allow(slots={**request.slots, "to": "the small bell"}, because="exact")
            case "big":
                return Confirm(
                    slots=request.slots, question="The big bell wakes all.", phrase="ring the big bell"
                )
            case "broken":
                raise RuntimeError("the rope is gone")
            case "stolen":
                return Allow(slots=request.slots)
            case "silent":
                return Deny(reason=Reason(code=ReasonCode.CANNOT_PLACE, text="There is no such bell."))
            case _:
                options = (
                    Option(id="small", label="Small", patch={"to": "small"}),
                    Option(id="big", label="Big", patch={"to": "big"}),
                    Option(id="cancel", label="Cancel", patch=None),
                )
                return Clarify(question="Which bell?", slots=request.slots, options=options, free="to")

    def perform(
        self, _core: Core, outcome: Outcome, _speaker: Speaker, _request: ActRequest, bound: Bound
    ) -> None:
        if bound.slots["to"] == "stolen":
            raise NothingLeftError("The bell is gone. Nothing was done.")
        outcome.say(Text.of(f"✓ rang {bound.slots['to']}"))


def bells() -> tuple[ActHandler, ...]:
    return (Bells(),)


def kinds(kit: Kit) -> list[str]:
    return [one for one in kit.kinds() if one.startswith(("commitment", "clarification"))]


def states(kit: Kit) -> list[str]:
    rows = kit.core.ledger.reader().execute("SELECT state FROM commitment ORDER BY made_seq")
    return [row[0] for row in rows]


def question(kit: Kit) -> Shown:
    return [one for one in kit.port.screen.values() if "Which bell?" in one.text][-1]


async def test_what_is_certain_is_done_at_once_and_recorded(tmp_path: Path) -> None:
    async with conversation(tmp_path, acts=bells()) as kit:
        assert await kit.say("ring small") == "✓ rang the small bell"
        assert kinds(kit) == ["commitment:made", "commitment:committed"]
        row = (
            kit.core.ledger.reader().execute("SELECT body FROM entry WHERE kind='commitment:made'").fetchone()
        )
        body = json.loads(row[0])
        assert (body["decision"], body["because"], body["act"]) == ("allow", "exact", "send_outbound")
        assert (body["audit"]["effect"], body["audit"]["source"]) == ("outbound", "chat")
        assert len(body["audit"]["args_digest"]) == 12
        (view,) = [kit.core.queries.commitment(body["commitment"])]
        assert view is not None
        assert view.slots == {"to": "the small bell", "text": "ding"}


async def test_what_is_denied_says_why_and_is_recorded(tmp_path: Path) -> None:
    async with conversation(tmp_path, acts=bells()) as kit:
        assert await kit.say("ring silent") == "There is no such bell."
        assert states(kit) == [CommitmentState.ABORTED]
        assert kinds(kit) == ["commitment:made"]


async def test_a_broken_engine_denies_and_says_so(tmp_path: Path) -> None:
    async with conversation(tmp_path, acts=bells()) as kit:
        assert "Nothing was done" in await kit.say("ring broken")
        assert states(kit) == [CommitmentState.ABORTED]


async def test_without_its_family_the_words_are_no_act(tmp_path: Path) -> None:
    async with conversation(tmp_path, acts=()) as kit:
        assert "✓" not in await kit.say("ring small")
        assert states(kit) == []


async def test_a_question_has_one_button_an_option_and_one_cancel(tmp_path: Path) -> None:
    async with conversation(tmp_path, acts=bells()) as kit:
        await kit.say("ring a bell")
        assert [one.label for one in question(kit).message.buttons] == ["Small", "Big", "Cancel"]
        assert states(kit) == [CommitmentState.NEEDS_CLARIFY]


async def test_a_pressed_option_is_resolved_again_as_of_the_request(tmp_path: Path) -> None:
    handler = Bells()
    async with conversation(tmp_path, acts=(handler,)) as kit:
        await kit.say("ring a bell")
        kit.clock.advance(300)
        said = await kit.press(question(kit), "Small")
        assert "✓ rang the small bell" in said
        assert handler.asked_at[0] == handler.asked_at[1]
        assert states(kit) == [CommitmentState.COMMITTED]
        assert kinds(kit)[-3:] == ["clarification:answered", "commitment:clarified", "commitment:committed"]


async def test_an_option_is_never_consent(tmp_path: Path) -> None:
    async with conversation(tmp_path, acts=bells()) as kit:
        await kit.say("ring a bell")
        said = await kit.press(question(kit), "Big")
        assert "Type:  ring the big bell" in said
        assert states(kit) == [CommitmentState.NEEDS_CONFIRM]


@pytest.mark.parametrize("answer", ["1", "small", "Small."])
async def test_an_option_may_be_named(tmp_path: Path, answer: str) -> None:
    async with conversation(tmp_path, acts=bells()) as kit:
        await kit.say("ring a bell")
        assert "✓ rang" in await kit.say(answer)


async def test_words_answer_where_words_can_and_count_from_now(tmp_path: Path) -> None:
    handler = Bells()
    async with conversation(tmp_path, acts=(handler,)) as kit:
        await kit.say("ring a bell")
        kit.clock.advance(300)
        assert "There is no such bell." in await kit.say("silent")
        assert (handler.asked_at[1] - handler.asked_at[0]).total_seconds() == 300
        assert states(kit) == [CommitmentState.ABORTED]


async def test_a_bare_yes_answers_no_question(tmp_path: Path) -> None:
    async with conversation(tmp_path, acts=bells()) as kit:
        await kit.say("ring a bell")
        assert "Which bell? Nothing was done." in await kit.say("yes")
        assert states(kit) == [CommitmentState.NEEDS_CLARIFY]
        assert "✓ rang the small bell" in await kit.say("1")


async def test_a_no_drops_the_question(tmp_path: Path) -> None:
    async with conversation(tmp_path, acts=bells()) as kit:
        await kit.say("ring a bell")
        assert "Dropped. Nothing was done." in await kit.say("no")
        assert states(kit) == [CommitmentState.ABORTED]


async def test_an_act_answers_no_card_that_waits(tmp_path: Path) -> None:
    async with conversation(tmp_path, acts=bells()) as kit:
        await kit.say("run systemctl restart caddy on local")
        assert await kit.say("ring small") == "✓ rang the small bell"
        assert kit.states() == ["waiting"]


async def test_an_act_is_no_reason_for_a_refusal(tmp_path: Path) -> None:
    async with conversation(tmp_path, acts=bells()) as kit:
        await kit.say("run systemctl restart caddy on local")
        assert "Why?" in await kit.say("no")
        assert await kit.say("ring small") == "✓ rang the small bell"


async def test_a_yes_to_a_card_is_no_answer_to_an_older_question(tmp_path: Path) -> None:
    async with conversation(tmp_path, acts=bells()) as kit:
        await kit.say("ring a bell", place="elsewhere")
        await kit.say(f"run touch {tmp_path}/made on local")
        await kit.say("go ahead")
        assert (tmp_path / "made").exists()


async def test_talk_that_is_not_for_sayso_is_no_act(tmp_path: Path) -> None:
    async with conversation(tmp_path, operators=TWO, acts=bells()) as kit:
        assert await kit.say("ring small", by="kim", addressed=False) == ""
        assert states(kit) == []


async def test_a_command_in_between_takes_its_place(tmp_path: Path) -> None:
    async with conversation(tmp_path, acts=bells()) as kit:
        await kit.say("ring a bell")
        await kit.say("run uptime on local")
        assert states(kit) == [CommitmentState.ABORTED]
        assert question(kit).message.buttons == ()


async def test_another_act_takes_its_place(tmp_path: Path) -> None:
    async with conversation(tmp_path, acts=bells()) as kit:
        await kit.say("ring a bell")
        await kit.say("ring small")
        assert states(kit) == [CommitmentState.ABORTED, CommitmentState.COMMITTED]


@pytest.mark.parametrize("how", ["press", "word"])
async def test_a_cancelled_question_ends_the_act(tmp_path: Path, how: str) -> None:
    async with conversation(tmp_path, acts=bells()) as kit:
        await kit.say("ring a bell")
        said = await (kit.press(question(kit), "Cancel") if how == "press" else kit.say("cancel"))
        assert "Dropped. Nothing ran." in said
        assert states(kit) == [CommitmentState.ABORTED]


async def test_an_expired_question_ends_the_act_and_its_buttons_do_nothing(tmp_path: Path) -> None:
    async with conversation(tmp_path, acts=bells()) as kit:
        await kit.say("ring a bell")
        shown = replace(question(kit))
        kit.clock.advance(kit.core.policy.clarification_s + 1)
        await kit.look()
        assert states(kit) == [CommitmentState.EXPIRED]
        assert "not open any more" in await kit.press(shown, "Small")
        assert states(kit) == [CommitmentState.EXPIRED]


async def test_somebody_else_may_not_answer(tmp_path: Path) -> None:
    async with conversation(tmp_path, operators=TWO, acts=bells()) as kit:
        await kit.say("ring a bell")
        assert "ana's" in await kit.press(question(kit), "Small", by="kim")
        assert states(kit) == [CommitmentState.NEEDS_CLARIFY]


async def test_the_phrase_does_it_once(tmp_path: Path) -> None:
    async with conversation(tmp_path, acts=bells()) as kit:
        await kit.say("ring big")
        assert "✓" not in await kit.say("yes")
        assert "✓ rang big" in await kit.say("ring the big bell")
        assert states(kit)[0] == CommitmentState.COMMITTED
        assert "✓" not in await kit.say("ring the big bell")
        assert kinds(kit).count("commitment:committed") == 1


async def test_where_two_operators_exist_the_second_types_it(tmp_path: Path) -> None:
    async with conversation(tmp_path, operators=TWO, acts=bells()) as kit:
        assert "kim types:  ring the big bell" in await kit.say("ring big")
        assert "Another person has to type it: kim" in await kit.say("ring the big bell")
        assert states(kit) == [CommitmentState.NEEDS_CONFIRM]
        assert "✓ rang big" in await kit.say("ring the big bell", by="kim")
        row = kit.core.ledger.reader().execute("SELECT body FROM entry WHERE kind='commitment:confirmed'")
        body = json.loads(row.fetchone()[0])
        assert (body["by"], body["alone"]) == ("kim", False)


async def test_who_may_not_loosen_cannot_confirm(tmp_path: Path) -> None:
    little = person("bo", Permission(risk=Risk.REVERSIBLE_LOW, targets=("*",)))
    async with conversation(tmp_path, operators=(little,), acts=bells()) as kit:
        await kit.say("ring big", by="bo")
        assert "✓" not in await kit.say("ring the big bell", by="bo")
        assert CommitmentState.COMMITTED not in states(kit)


async def test_a_phrase_that_comes_too_late_is_refused_and_recorded(tmp_path: Path) -> None:
    async with conversation(tmp_path, acts=bells()) as kit:
        await kit.say("ring big")
        kit.clock.advance(kit.core.policy.approval_s + 1)
        assert "expired" in await kit.say("ring the big bell")
        assert states(kit)[0] == CommitmentState.EXPIRED
        assert "commitment:revive_refused" in kinds(kit)


async def test_cancel_drops_what_waits_for_its_phrase(tmp_path: Path) -> None:
    async with conversation(tmp_path, acts=bells()) as kit:
        await kit.say("ring big")
        assert "Dropped" in await kit.say("cancel")
        assert states(kit) == [CommitmentState.ABORTED]
        assert "✓" not in await kit.say("ring the big bell")


async def test_so_many_may_wait_in_a_place_and_the_oldest_gives_way(tmp_path: Path) -> None:
    people = [person(f"p{number}") for number in range(MAX_OPEN + 1)]
    async with conversation(tmp_path, operators=people, acts=bells()) as kit:
        for one in people:
            await kit.say("ring a bell", by=one.id)
        assert states(kit) == [CommitmentState.ABORTED] + [CommitmentState.NEEDS_CLARIFY] * MAX_OPEN


async def test_what_waits_survives_a_restart(tmp_path: Path) -> None:
    async with conversation(tmp_path, acts=bells()) as kit:
        await kit.say("ring a bell")
        shown, port, clock = question(kit), kit.port, kit.clock
    async with conversation(tmp_path, acts=bells(), port=port, clock=clock) as kit:
        assert "✓ rang the small bell" in await kit.press(shown, "Small")


async def test_what_is_gone_when_it_is_done_is_not_recorded_as_done(tmp_path: Path) -> None:
    async with conversation(tmp_path, acts=bells()) as kit:
        assert await kit.say("ring stolen") == "The bell is gone. Nothing was done."
        assert states(kit) == [CommitmentState.ABORTED]


async def test_a_phrase_that_two_people_asked_for_counts_where_it_may(tmp_path: Path) -> None:
    async with conversation(tmp_path, operators=TWO, acts=bells()) as kit:
        await kit.say("ring big", by="kim")
        await kit.say("ring big", by="ana")
        assert "✓ rang big" in await kit.say("ring the big bell", by="kim")
        assert states(kit) == [CommitmentState.NEEDS_CONFIRM, CommitmentState.COMMITTED]


async def test_a_phrase_whose_act_was_pruned_does_nothing(tmp_path: Path) -> None:
    async with conversation(tmp_path, acts=bells()) as kit:
        await kit.say("ring big")
        kit.core.ledger.prune(before=kit.clock.now() + timedelta(days=1))
        assert "✓" not in await kit.say("ring the big bell")
        assert "✓" not in await kit.say(PRUNED)
        assert CommitmentState.COMMITTED not in states(kit)
