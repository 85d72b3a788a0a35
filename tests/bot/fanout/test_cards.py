"""The card of a fan-out: what stands on it at each moment of its life, without a core."""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.cards import summary
from bot.fanout.tally import Fate, Tally
from gate.domain import ProposalId, Risk
from gate.fanout import Brake
from gate.lifecycle import ActionState, ApprovalState
from ledger.views import ActionView
from tests.bot.fanout.scenes import (
    CARDS,
    READS,
    RELOAD,
    drawn,
    dropped,
    ended,
    fanout,
    hosts,
    message,
    running,
    view,
    webs,
)
from tests.gate.makers import NOW, verdict

READING = replace(verdict(Risk.READ_ONLY, auto_run=True), reasons=("only reads",))


def queued(one: ActionView) -> ActionView:
    return replace(one, state=ActionState.QUEUED)


def failed(one: ActionView, output: str = "", *, exit_code: int = 1) -> ActionView:
    return ended(one, ActionState.FAILED, exit_code=exit_code, output=output)


# ---------------------------------------------------------------- nothing is hidden


def test_nothing_that_is_executed_is_hidden_and_secrets_are() -> None:
    command = "echo Cookie: a; touch /tmp/x # tr0ub4dor"
    actions = [view(name, index, command=command) for index, name in enumerate(hosts(4), 1)]
    for shown in (drawn(fanout(*actions)), CARDS.details(fanout(*actions), now=NOW, zone=UTC).plain()):
        assert "echo Cookie: ***; touch /tmp/x # ***" in shown
        assert "tr0ub4dor" not in shown


@pytest.mark.parametrize("length", [70, 3_000])
def test_a_long_command_stands_whole(length: int) -> None:
    command = f"touch /srv/{'x' * length} && echo end"
    actions = [view(name, index, command=command) for index, name in enumerate(hosts(4), 1)]
    for state in ActionState:
        shown = drawn(fanout(*[replace(one, state=state) for one in actions]))
        assert command in shown.splitlines(), state


def test_commands_that_differ_are_all_there_each_with_its_targets() -> None:
    actions = [view(name, index, command=f"true {index % 2}") for index, name in enumerate(hosts(4), 1)]
    shown = drawn(fanout(*actions))
    assert "· 2 commands" in shown.splitlines()[0]
    assert "on web1, web3:\ntrue 1\non web2, web4:\ntrue 0" in shown


# ---------------------------------------------------------------- it runs


def test_what_runs_is_counted_and_named_while_it_is_little() -> None:
    actions = webs()
    actions[:5] = map(ended, actions[:5])
    actions[5] = failed(actions[5], "ok so far\nnginx: [emerg] unknown directive\n")
    actions[6:9] = map(running, actions[6:9])
    actions[9:] = map(queued, actions[9:])
    brake = Brake(canary=1, batch=3, stop_after=2)
    lines = drawn(fanout(*actions, brake=brake)).splitlines()
    assert lines[0] == "● @web · 12 hosts · reload nginx"
    assert lines[3:] == [
        "✓ 5 ok · ✗ 1 failed · ● 3 running · ◔ 3 to come · 4.0 s",
        "under way: web7, web8, web9",
        "✗ web6: exit 1 · nginx: [emerg] unknown directive",
        lines[-2],
        "web1 first; then 3 at a time; stops if web1 fails, or at 2 failures",
    ]
    assert re.fullmatch(r'approved by ana, "go ahead", 14:00 · digest [0-9a-f]{12} · #k7f3a2', lines[-2])


def test_many_that_run_are_a_number() -> None:
    shown = drawn(fanout(*map(running, webs())))
    assert "● 12 running · 4.0 s" in shown
    assert "under way" not in shown


def test_at_most_three_reasons_are_quoted_while_it_runs() -> None:
    actions = webs()
    actions[:6] = [failed(one, f"error {one.action.index}\n") for one in actions[:6]]
    actions[6:] = map(running, actions[6:])
    shown = drawn(fanout(*actions))
    assert shown.count("✗ web") == 3
    assert "… 3 more did not succeed" in shown


def test_what_has_its_yes_and_no_turn_yet_says_behind_what() -> None:
    actions = [queued(one) for one in webs(4)]
    assert "waits for its turn" in drawn(fanout(*actions))
    assert "waits behind #m4d1x9 on web1" in drawn(fanout(*actions), behind="behind #m4d1x9 on web1")


def test_a_pause_between_batches_is_no_standstill() -> None:
    actions = webs(4)
    actions[:2] = map(ended, actions[:2])
    actions[2:] = map(queued, actions[2:])
    assert "pauses 1 min before it goes on" in drawn(fanout(*actions, brake=Brake(batch=2, pause_s=60)))


# ---------------------------------------------------------------- it stopped


def test_a_stop_says_what_failed_and_asks_about_the_rest() -> None:
    actions = webs()
    actions[:2] = map(ended, actions[:2])
    actions[2] = failed(actions[2], "nginx: [emerg] no\n")
    card = message(fanout(*actions))
    lines = card.body.plain().splitlines()
    assert lines[0].startswith("◔ @web · 12 hosts")
    assert lines[3] == "Stopped: web3 failed (exit 1). 9 have not run and wait for a new yes."
    assert lines[4] == "✓ 2 ok · ✗ 1 failed · ◔ 9 wait · 1.0 s"
    assert lines[5] == "✗ web3: exit 1 · nginx: [emerg] no"
    assert lines[6].startswith('web1 to web3: approved by ana, "go ahead", 14:00 · digest ')
    assert lines[7] == "asked now: web4 to web12"
    # The rest is a round of its own, and so has its own canary.
    assert lines[10] == "web4 first; then the other 8 at once; stops if web4 fails"
    assert lines[11] == 'Say "go ahead" or press a button.'
    assert "did not succeed; the rest waits" not in card.body.plain()
    assert [button.label for button in card.buttons] == ["Approve", "Deny", "Details", "Edit"]


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        (lambda one: ended(one, ActionState.LOST, note="connection lost"), "web3 has an unknown end"),
        (lambda one: ended(one, ActionState.FAILED, note="no route"), "web3 failed"),
        # The door did not let it start.
        (lambda one: dropped(one, "its host key changed, nothing ran"), "web3 could not start"),
        (lambda one: ended(one, ActionState.CANCELLED, note="stopped by ana"), "web3 was cancelled"),
        (
            lambda one: ended(
                replace(one, action=replace(one.action, verify="nginx -t")), verify_exit=1, checked=True
            ),
            "web3 failed its check",
        ),
    ],
)
def test_why_it_stopped(bad: object, says: str) -> None:
    assert callable(bad)
    actions = webs(4)
    actions[:2] = map(ended, actions[:2])
    actions[2] = bad(actions[2])
    assert f"Stopped: {says}. 1 has not run and waits for a new yes." in drawn(fanout(*actions))


def test_failures_of_an_earlier_round_did_not_stop_this_one() -> None:
    actions = webs(6)
    actions[0] = failed(actions[0])
    first = fanout(*actions).actions[0]
    later = [replace(one, state=ActionState.WAITING) for one in actions[1:]]
    later[0] = failed(later[0])
    later[0] = replace(later[0], started_at=NOW + timedelta(minutes=1))
    second = fanout(*later)
    both = replace(second, actions=(first, *second.actions))
    assert "Stopped: web2 failed (exit 1). 4 have not run" in drawn(both, seconds=90)


def test_a_canary_that_may_not_start_stops_it_and_says_why() -> None:
    actions = webs(4)
    actions[0] = dropped(actions[0], "its host key changed, nothing ran")
    shown = drawn(fanout(*actions))
    assert "Stopped: web1 could not start. 3 have not run and wait for a new yes." in shown
    assert "✗ web1: its host key changed, nothing ran" in shown
    assert "asked now: web2 to web4" in shown


def test_many_failures_that_stopped_it_are_a_number() -> None:
    actions = webs()
    actions[:5] = [failed(one) for one in actions[:5]]
    assert "Stopped: 5 did not succeed (web1 to web5). 7 have not run" in drawn(fanout(*actions))


def test_it_says_that_it_stopped_while_some_run_still() -> None:
    actions = webs(6)
    actions[0] = failed(actions[0])
    actions[1] = running(actions[1])
    shown = drawn(fanout(*actions))
    assert "Stopped: web1 failed (exit 1). 4 have not run and wait for a new yes." in shown
    assert "✗ 1 failed · ● 1 running · ◔ 4 wait · 4.0 s" in shown


def test_the_rest_waits_without_a_failure_too() -> None:
    actions = webs(4)
    actions[0] = ended(actions[0])
    assert "\n3 have not run and wait for a new yes.\n" in drawn(fanout(*actions))


# ---------------------------------------------------------------- it is over


def test_all_went_well() -> None:
    lines = drawn(fanout(*map(ended, webs()))).splitlines()
    assert lines[:4] == [
        "✓ @web · 12 hosts · reload nginx",
        RELOAD,
        "web1 to web12",
        "✓ all 12 ok in 1.0 s",
    ]
    assert len(lines) == 5
    assert lines[4].startswith('approved by ana, "go ahead", 14:00')


def test_what_ran_at_once_says_so_and_asks_nothing() -> None:
    actions = [view(name, index, command="uptime", judged=READING) for index, name in enumerate(hosts(4), 1)]
    now = fanout(*map(running, actions), brake=READS)
    assert drawn(now).startswith("● @web · 4 hosts · uptime   read-only, runs at once")
    over = message(fanout(*map(ended, actions), brake=READS))
    assert over.body.plain().startswith("✓ @web · 4 hosts · uptime   read-only, ran at once")
    assert over.buttons == ()


def test_a_no_says_who_said_it_and_that_nothing_ran() -> None:
    made = fanout(*[dropped(one, "nothing ran") for one in webs()], said="no")
    refused = [
        replace(one, approval=replace(one.approval, state=ApprovalState.REFUSED))
        for one in made.actions
        if one.approval is not None
    ]
    shown = drawn(replace(made, actions=tuple(refused)))
    assert shown.startswith("✗ @web · 12 hosts")
    assert "✗ 12 did not run\n✗ web1 to web12: nothing ran\n" in shown
    assert 'refused by ana, "no", 14:00' in shown
    assert "retry" not in shown


def test_a_replaced_card_says_so_once() -> None:
    gone = fanout(*[dropped(one, "replaced by #k00009, nothing ran") for one in webs()])
    shown = drawn(replace(gone, replaced_by=ProposalId("k00009")))
    assert shown.count("replaced by") == 1
    assert shown.endswith("This card was replaced by #k00009. Nothing ran from it.")


def test_answers_name_how_many() -> None:
    actions = webs()
    assert summary(fanout(*actions), secrets=()) == "#k7f3a2, reload nginx on 12 hosts"
    actions[:3] = map(failed, actions[:3])
    assert summary(fanout(*actions), secrets=()) == "#k7f3a2, reload nginx on 9 hosts"


# ---------------------------------------------------------------- whatever the states


def _one(index: int, state: ActionState, *, verify: bool, started: bool, output: str) -> ActionView:
    made = view(f"h{index}", index, verify="true" if verify else None)
    match state:
        case ActionState.STARTED:
            return running(made)
        case ActionState.SUCCEEDED | ActionState.FAILED | ActionState.LOST:
            return ended(made, state, output=output, checked=started, verify_exit=1 if started else None)
        case ActionState.CANCELLED:
            return ended(made, state, note="stopped") if started else dropped(made, "nothing ran")
        case _:
            return replace(made, state=state)


ANY = st.builds(
    _one,
    index=st.just(0),
    state=st.sampled_from(ActionState),
    verify=st.booleans(),
    started=st.booleans(),
    output=st.sampled_from(["", "ok\n", "a\nb\n", "x\n" * 300, "w" * 3000, "\u202e*bold* `code` <b>\n"]),
)


def _numbered(actions: Sequence[ActionView]) -> list[ActionView]:
    return [
        replace(one, action=replace(view(f"h{index}", index).action, verify=one.action.verify))
        for index, one in enumerate(actions, 1)
    ]


@given(st.lists(ANY, min_size=4, max_size=40), st.booleans())
@settings(deadline=None)
def test_every_target_is_counted_exactly_once(actions: list[ActionView], files: bool) -> None:  # noqa: FBT001
    made = fanout(*_numbered(actions))
    tally = Tally.of(made.actions)
    assert sum(len(found) for found in tally.by_fate.values()) == len(actions)
    counts = [re.fullmatch(r". (?:all )?(\d+)(?: of \d+)? .*", one) for one in tally.counts(ok_of_all=True)]
    assert sum(int(one[1]) for one in counts if one) == len(actions)
    shown = drawn(made, files=files)
    assert RELOAD in shown.splitlines()[0]
    assert f"{len(actions)} hosts" in shown
    assert len(shown) < 3_000
    if not tally.is_untouched:
        for one in tally.counts(ok_of_all=tally.is_over):
            assert one in shown
    assert tally.is_over == all(
        one not in tally.by_fate for one in (Fate.WAITING, Fate.QUEUED, Fate.RUNNING, Fate.CHECKING)
    )


@pytest.mark.parametrize("count", [200, 500])
def test_hundreds_stay_readable(count: int) -> None:
    actions = [view(name, index, judged=READING) for index, name in enumerate(hosts(count), 1)]
    every = [ended(one, output=f"up {one.action.index} days, load 0.1\n") for one in actions]
    every[3::40] = [
        ended(one, ActionState.FAILED, note=f"{one.action.target.address} port 22 refuses connections.")
        for one in actions[3::40]
    ]
    shown = drawn(fanout(*every, brake=READS), files=True)
    assert len(shown) < 3_000
    assert len(shown.splitlines()) < 30
    # One reason for all of them, whatever their addresses.
    assert shown.count("port 22 refuses connections") == 1
