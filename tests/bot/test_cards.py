"""Cards: what stands on them for one view, without a core."""

from dataclasses import replace
from datetime import UTC, timedelta

import pytest

from bot.cards import Cards
from gate.digest import action_digest
from gate.domain import (
    Action,
    ApprovalId,
    Digest,
    PersonId,
    PlaceId,
    ProposalId,
    Radius,
    Risk,
    RouteKind,
    Touch,
    TouchKind,
    Verdict,
)
from gate.lifecycle import ActionState, ApprovalState
from ledger.views import ActionView, ApprovalView, EndingView, LastRun, ProposalView
from tests.gate.makers import ANA, NOW, P1, action, verdict


def one(
    command: str = "systemctl restart caddy",
    *,
    index: int = 1,
    state: ActionState = ActionState.WAITING,
    judged: Verdict | None = None,
    ending: EndingView | None = None,
    approval: ApprovalView | None = None,
    purpose: str = "",
) -> ActionView:
    made: Action = replace(action(command, index=index), purpose=purpose)
    waits = approval or (live(made) if state is ActionState.WAITING else None)
    return ActionView(
        action=made,
        digest=action_digest(made),
        verdict=judged or verdict(),
        radius=Radius(known=False),
        route=RouteKind.APPROVAL,
        because="",
        phrase=None,
        state=state,
        approval=waits,
        queued_at=None,
        started_at=None,
        ended_at=None,
        ending=ending,
    )


def live(made: Action) -> ApprovalView:
    return ApprovalView(
        id=ApprovalId(f"{made.id}/a"),
        action=made.id,
        state=ApprovalState.PENDING,
        deadline_at=NOW + timedelta(minutes=15),
        phrase=None,
        list_digest=Digest("d"),
        decided_by=None,
        decided_at=None,
        said="",
        why="",
        alone=False,
    )


def ended(note: str = "", *, exit_code: int | None = None, run_s: float = 0.0) -> EndingView:
    return EndingView(
        note=note,
        exit_code=exit_code,
        run_s=run_s,
        output="",
        total_bytes=0,
        dropped_bytes=0,
        verify_exit=None,
        settled="",
    )


def proposal(*actions: ActionView, purpose: str = "") -> ProposalView:
    return ProposalView(
        id=P1,
        correlation_id="c",
        requester=PersonId(ANA.id),
        asked_in=PlaceId("ops"),
        shown_in=PlaceId("ops"),
        made_at=NOW,
        source="typed",
        purpose=purpose,
        replaced_by=None,
        policy_revision="r1",
        actions=actions,
    )


CARDS = Cards(token_key=b"k" * 32, secrets=(), last_run=lambda _: None)


def drawn(view: ProposalView, *, last: LastRun | None = None) -> str:
    cards = Cards(token_key=b"k" * 32, secrets=(), last_run=lambda _: last)
    return cards.draw(view, now=NOW, zone=UTC).body.plain()


def test_a_card_hides_nothing_that_is_executed() -> None:
    view = proposal(one("echo Cookie: a; touch /tmp/x"))
    assert "echo Cookie: ***; touch /tmp/x" in drawn(view)
    assert "echo Cookie: ***; touch /tmp/x" in CARDS.details(view, now=NOW, zone=UTC).plain()


def test_a_reason_about_what_is_not_seen_is_shown_whatever_stands_first() -> None:
    odd = "holds an invisible or control character (U+202E)"
    reasons = ("restarts a service", "some other", odd)
    judged = Verdict(risk=Risk.CONFIG_MUTATION, auto_run=False, reasons=reasons)
    assert odd in drawn(proposal(one(judged=judged)))


def test_an_unknown_end_is_said_once_with_how_long_it_ran_and_where_to_look() -> None:
    judged = replace(verdict(), touches=(Touch(kind=TouchKind.SERVICE, name="caddy"),))
    lost = one(state=ActionState.LOST, judged=judged, ending=ended("connection lost", run_s=41))
    shown = drawn(proposal(lost))
    assert "? connection lost after 41 s: unknown whether it finished" in shown
    assert "Check: run systemctl status caddy on web1" in shown


def test_reading_with_an_unknown_end_is_tried_again_and_not_settled() -> None:
    lost = one(state=ActionState.LOST, judged=replace(verdict(), risk=Risk.READ_ONLY), ending=ended("gone"))
    shown = drawn(proposal(lost))
    assert "It only reads: nothing can have changed. Say  again #k7f3a2  to run it once more." in shown
    assert "settle" not in shown


@pytest.mark.parametrize("begun_by", ["ana", "agent:claude", "alert:disk"])
def test_a_run_waits_even_for_reading_with_an_unknown_end(begun_by: str) -> None:
    lost = one(state=ActionState.LOST, judged=replace(verdict(), risk=Risk.READ_ONLY), ending=ended("gone"))
    shown = drawn(replace(proposal(lost), source="runbook", requester=PersonId(begun_by)))
    assert "settle #k7f3a2 ran, because" in shown
    assert "frozen" not in shown


def test_an_older_record_that_says_so_itself_is_not_doubled() -> None:
    note = "connection lost: unknown whether it finished"
    shown = drawn(proposal(one(state=ActionState.LOST, ending=ended(note))))
    assert shown.count("unknown whether it finished") == 1


def test_a_card_that_stands_again_says_why() -> None:
    failed = one("false", index=1, state=ActionState.FAILED, ending=ended(exit_code=1, run_s=1))
    shown = drawn(proposal(failed, one(index=2)))
    assert "1 did not succeed; the rest waits for a new yes" in shown
    done = one("true", index=1, state=ActionState.SUCCEEDED, ending=ended(exit_code=0))
    assert "did not succeed" not in drawn(proposal(done, one(index=2)))


@pytest.mark.parametrize(
    ("unasked", "types", "says"),
    [
        (False, False, 'Say "go ahead" or press'),
        (False, True, 'Say "go ahead" or press'),
        (True, True, 'Reply "go ahead" or press'),
        # Where nothing can be replied to, only its id says what a yes is for.
        (True, False, 'Say "approve k7f3a2" or press'),
    ],
)
def test_a_card_says_what_counts_where_it_stands(*, unasked: bool, types: bool, says: str) -> None:
    view = replace(proposal(one()), unasked=unasked)
    assert says in CARDS.draw(view, now=NOW, zone=UTC, types=types).body.plain()


def test_what_was_asked_stands_on_the_card_unless_it_is_the_command() -> None:
    asked = 'restart\ncaddy, password=hunter2 "now"'
    shown = drawn(proposal(one(), purpose=asked))
    assert 'asked by ana: "restart caddy, password=*** "now""' in shown
    shown = drawn(proposal(one(), purpose="run systemctl restart caddy on web1"))
    assert shown.endswith("asked by ana")


def test_what_was_asked_is_cut_at_two_hundred_characters() -> None:
    assert f'"{"x" * 199}…"' in drawn(proposal(one(), purpose="x" * 900))


def test_the_words_of_the_decider_are_one_line() -> None:
    made = action()
    granted = replace(
        live(made),
        state=ApprovalState.GRANTED,
        decided_by=PersonId("ana"),
        decided_at=NOW,
        said="yes\n✓ ok in 1 s\x1b[2J",
    )
    end = ended(exit_code=0, run_s=1)
    shown = drawn(proposal(one(state=ActionState.SUCCEEDED, approval=granted, ending=end)))
    assert 'approved by ana, "yes ✓ ok in 1 s\\u{1b}[2J"' in shown


def test_the_last_run_says_how_long_it_took_where_that_is_known() -> None:
    assert "last run" not in drawn(proposal(one()))
    last = LastRun(ended_at=NOW, state=ActionState.FAILED, run_s=3.0)
    assert "last run just now, failed in 3.0 s" in drawn(proposal(one()), last=last)
    settled = LastRun(ended_at=NOW, state=ActionState.SUCCEEDED, run_s=0.0)
    assert "last run just now, ok\n" in drawn(proposal(one()), last=settled)


def test_much_output_hangs_on_the_card_whole_and_its_ends_stand_on_it() -> None:
    printed = "\n".join(f"line {number}" for number in range(100))
    end = replace(ended(exit_code=0, run_s=1), output=printed)
    view = proposal(one("cat log", state=ActionState.SUCCEEDED, ending=end))
    message = CARDS.draw(view, now=NOW, zone=UTC, files=True)
    shown = message.body.plain()
    assert message.attachment == ("output.txt", f"{printed}\n".encode())
    assert "line 7\n… 84 lines left out here; whole in output.txt …\nline 92" in shown
    assert "✓ ok in 1.0 s · 100 lines" in shown
    without = CARDS.draw(view, now=NOW, zone=UTC)
    assert without.attachment is None
    assert "… 60 lines left out here; `show" in without.body.plain()


def test_what_fits_on_a_phone_is_no_file() -> None:
    end = replace(ended(exit_code=0, run_s=1), output="a\nb\n")
    view = proposal(one("cat log", state=ActionState.SUCCEEDED, ending=end))
    message = CARDS.draw(view, now=NOW, zone=UTC, files=True)
    assert message.attachment is None
    assert "lines" not in message.body.plain()


def test_outputs_of_a_list_stand_in_one_file_each_under_its_name() -> None:
    end = replace(ended(exit_code=0, run_s=1), output="x\n" * 30)
    both = [one("cat log", index=index, state=ActionState.SUCCEEDED, ending=end) for index in (1, 2)]
    message = CARDS.draw(proposal(*both), now=NOW, zone=UTC, files=True)
    assert message.attachment is not None
    assert message.attachment[1].decode().count("x\n") == 60
    assert message.attachment[1].decode().startswith("# 1 ")
    assert "\n\n# 2 " in message.attachment[1].decode()


def granted(made: Action, *, said: str = "go ahead") -> ApprovalView:
    state, by = ApprovalState.GRANTED, PersonId("ana")
    return replace(live(made), state=state, decided_by=by, decided_at=NOW, said=said)


def test_one_yes_to_a_list_is_told_once() -> None:
    done = [
        one(
            index=index,
            state=ActionState.SUCCEEDED,
            approval=granted(action(index=index)),
            ending=ended(exit_code=0, run_s=1),
        )
        for index in (1, 2)
    ]
    shown = drawn(proposal(*done))
    assert shown.count("approved by ana") == 1
    assert shown.splitlines()[-1].startswith('approved by ana, "go ahead", ')
    assert shown.count("digest ") == 2
    other = replace(done[1], approval=granted(action(index=2), said="yes"))
    assert drawn(proposal(done[0], other)).count("approved by ana") == 2


def test_a_pressed_button_is_no_quotation() -> None:
    done = one(
        state=ActionState.SUCCEEDED,
        approval=granted(action(), said="[Approve]"),
        ending=ended(exit_code=0, run_s=1),
    )
    assert "approved by ana, " in drawn(proposal(done))
    assert "[Approve]" not in drawn(proposal(done))


def test_a_long_command_is_not_begun_twice() -> None:
    command = f"touch /srv/{'x' * 90}"
    judged = replace(verdict(), deed=None)
    lines = drawn(proposal(one(command, judged=judged))).splitlines()
    assert lines[0].endswith("· touch …")
    assert lines[1] == command


def test_a_replaced_card_says_so_once() -> None:
    dropped = one(state=ActionState.CANCELLED, ending=ended("replaced by #k00009, nothing ran"))
    shown = drawn(replace(proposal(dropped), replaced_by=ProposalId("k00009")))
    assert shown.count("replaced by") == 1
    assert shown.endswith("This card was replaced by #k00009. Nothing ran from it.")


def test_where_to_look_after_packages_is_known() -> None:
    lost = one("sudo apt-get upgrade -y", state=ActionState.LOST, ending=ended("connection lost"))
    assert "Check: run tail -20 /var/log/apt/history.log on web1" in drawn(proposal(lost))
    lost = one("echo apt", state=ActionState.LOST, ending=ended("connection lost"))
    assert "Check:" not in drawn(proposal(lost))


def test_details_name_every_dependant_once() -> None:
    radius = Radius(known=False, services=("a", "b", "c"), targets=())
    touched = replace(verdict(), touches=(Touch(kind=TouchKind.SERVICE, name="caddy"),))
    view = proposal(replace(one(judged=touched), radius=radius))
    shown = CARDS.details(view, now=NOW, zone=UTC).plain()
    assert "3 services depend on it: a, b, c, maybe more" in shown
