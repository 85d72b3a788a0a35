"""Results: what went wrong where, the same reason once, and what to type then."""

from dataclasses import replace
from datetime import UTC, timedelta

import pytest

from bot.execution.unreached import UnreachedError, explain
from bot.fanout import results
from bot.fanout.look import Look
from bot.fanout.tally import Tally, busy_s
from gate.domain import Risk, Target, Touch, TouchKind
from gate.lifecycle import ActionState
from ledger.views import ActionView
from tests.bot.fanout.scenes import dropped, ended, fanout, hosts, running, view
from tests.gate.makers import NOW, verdict

LOOK = Look(now=NOW + timedelta(minutes=5), zone=UTC, secrets=("tr0ub4dor",))


def webs(count: int = 6, *, verify: str | None = None) -> list[ActionView]:
    return [view(name, index, verify=verify) for index, name in enumerate(hosts(count), 1)]


def over(*actions: ActionView) -> list[str]:
    made = fanout(*actions)
    told = results.over(made, Tally.of(made.actions), LOOK)
    return ["".join(str(getattr(part, "text", part)) for part in _parts(line)) for line in told.lines]


def _parts(line: object) -> list[object]:
    return line if isinstance(line, list) else [line]


def failed(one: ActionView, output: str = "", *, exit_code: int | None = 1, note: str = "") -> ActionView:
    return ended(one, ActionState.FAILED, exit_code=exit_code, output=output, note=note)


def test_the_same_reason_is_told_once_with_all_of_its_targets() -> None:
    actions = webs()
    actions[1] = failed(actions[1], "checking\nnginx: [emerg] no\n")
    actions[4] = failed(actions[4], "checking\nnginx: [emerg] no\n")
    actions[5] = failed(actions[5], "other\n", exit_code=2)
    for index in (0, 2, 3):
        actions[index] = ended(actions[index])
    lines = over(*actions)
    assert lines[0] == "✓ 3 of 6 ok in 1.0 s · ✗ 3 failed"
    assert lines[1] == "✗ web2, web5: exit 1 · nginx: [emerg] no"
    assert lines[2] == "✗ web6: exit 2 · other"
    assert not any(line.startswith("exit") for line in lines), "each exit is told of already"
    assert lines[-1] == "Say  retry the failed  to run it again there."


def test_exits_are_counted_where_not_each_of_them_is_told_of() -> None:
    actions = [ended(one) for one in webs(12)]
    for index in range(7):
        actions[index] = failed(webs(12)[index], f"error {index}\n", exit_code=1 + index // 4)
    lines = over(*actions)
    assert "… 2 more did not succeed" in lines
    assert "exit 0 on 5 · exit 1 on web1 to web4 · exit 2 on web5 to web7" in lines


def refused(target: Target) -> UnreachedError:
    """Return what is noted of a host where nobody listens."""
    return explain(ConnectionRefusedError(), name=target.id, address=target.address, port=22, user="ops")


def test_targets_that_were_not_reached_are_one_reason_whatever_their_addresses() -> None:
    actions = [failed(one, exit_code=None, note=str(refused(one.action.target))) for one in webs()]
    assert over(*actions)[:2] == [
        "✗ 6 failed in 1.0 s",
        "✗ web1 to web6: … port 22 refuses connections. Check that sshd runs there and listens on that port",
    ]
    alone = [actions[0], *map(ended, webs()[1:])]
    assert over(*alone)[1] == (
        "✗ web1: 10.0.0.1 port 22 refuses connections. Check that sshd runs there and listens on that port"
    )


def test_what_a_failure_printed_is_told_once_where_one_line_is_all_of_it() -> None:
    actions = [ended(one, output="fine\n") for one in webs()]
    actions[1] = failed(webs()[1], "nginx: [emerg] no\n")
    lines = over(*actions)
    assert sum("[emerg]" in line for line in lines) == 1
    assert "5 hosts agree:" in lines
    actions[1] = failed(webs()[1], "checking\nnginx: [emerg] no\n")
    lines = over(*actions)
    assert lines[lines.index("web2 differs:") + 1] == "- fine\n+ checking\n+ nginx: [emerg] no"


def test_five_reasons_are_told_and_the_rest_is_counted() -> None:
    actions = [failed(one, f"error {one.action.index}\n") for one in webs(8)]
    lines = over(*actions)
    assert sum(line.startswith("✗ web") for line in lines) == 5
    assert "… 3 more did not succeed" in lines


def test_unknown_ends_come_first_and_say_what_to_look_at_and_type() -> None:
    touches = (Touch(kind=TouchKind.SERVICE, name="nginx"),)
    actions = [replace(one, verdict=replace(verdict(), touches=touches)) for one in webs()]
    actions[0] = failed(actions[0])
    actions[1] = ended(actions[1], ActionState.LOST, note="connection lost", run_s=41)
    actions[2:] = map(ended, actions[2:])
    lines = over(*actions)
    assert lines[0] == "✓ 4 of 6 ok in 41 s · ✗ 1 failed · ? 1 unknown"
    assert lines[1] == "? web2: connection lost after 41 s: unknown whether it finished"
    assert lines[3:8] == [
        "Changes on web2 are frozen until someone looks.",
        "Check: run systemctl status nginx on web2",
        "Then one of:",
        "  settle #k7f3a2.2 ran, because …",
        "  settle #k7f3a2.2 did-not-run, because …",
    ]


def test_several_unknown_ends_have_each_a_number_to_settle() -> None:
    actions = [ended(one, ActionState.LOST, note="connection lost", run_s=9) for one in webs(3)]
    lines = over(*actions)
    assert lines[1] == "? web1 to web3: connection lost: unknown whether it finished"
    assert "Then, of each, one of:" in lines
    assert "web1 #k7f3a2.1, web2 #k7f3a2.2, web3 #k7f3a2.3" in lines
    # Nothing failed for certain, so there is nothing that may be run again just so.
    assert not any("retry" in line for line in lines)


def test_reading_with_an_unknown_end_freezes_nothing_and_may_just_be_tried_again() -> None:
    actions = [view(name, index, risk=Risk.READ_ONLY) for index, name in enumerate(hosts(4), 1)]
    actions[0] = ended(actions[0], ActionState.LOST, note="connection lost")
    actions[1:] = map(ended, actions[1:])
    lines = over(*actions)
    assert "It only reads: nothing can have changed." in lines
    assert "Say  retry the failed  to run it again there." in lines
    assert not any("frozen" in line or "settle" in line for line in lines)


def test_of_both_only_the_change_is_to_be_settled() -> None:
    actions = [view("web1", 1, risk=Risk.READ_ONLY), view("web2", 2)]
    lines = over(*(ended(one, ActionState.LOST, note="connection lost") for one in actions))
    assert "It only reads on web1: nothing can have changed there." in lines
    assert "Changes on web2 are frozen until someone looks." in lines
    assert "  settle #k7f3a2.2 ran, because …" in lines
    assert not any("k7f3a2.1" in line for line in lines)


def test_killed_and_never_run_are_told_apart() -> None:
    actions = webs()
    actions[:2] = map(ended, actions[:2])
    actions[2] = ended(actions[2], ActionState.CANCELLED, note="stopped by ana")
    actions[3:] = [dropped(one, "cancelled by ana, nothing ran") for one in actions[3:]]
    assert over(*actions)[:3] == [
        "✓ 2 of 6 ok in 1.0 s · ✗ 1 cancelled · ✗ 3 did not run",
        "✗ web3: stopped by ana",
        "✗ web4 to web6: cancelled by ana, nothing ran",
    ]


def test_checks_count() -> None:
    actions = webs(4, verify="nginx -t")
    actions[0] = ended(actions[0], verify_exit=0, checked=True)
    actions[1] = ended(actions[1], verify_exit=3, checked=True)
    actions[2] = ended(actions[2], checked=True)
    actions[3] = ended(actions[3])
    made = fanout(*actions)
    tally = Tally.of(made.actions)
    assert list(tally.counts()) == ["✓ 1 ok", "✗ 2 ran, check failed", "● 1 in their check"]
    assert not tally.is_over
    actions[3] = ended(actions[3], settled="I looked", checked=False)
    assert over(*actions)[:4] == [
        "✓ 2 of 4 ok in 1.0 s · ✗ 2 ran, check failed",
        "✗ web2: ran, and its check ended with exit 3",
        "✗ web3: ran, and nobody knows how its check went",
        "✓ web4 ran, says who looked: I looked",
    ]


def test_what_was_settled_as_not_run_says_who_looked() -> None:
    actions = webs(4)
    actions[0] = failed(actions[0], exit_code=None)
    ending = actions[0].ending
    assert ending is not None
    actions[0] = replace(actions[0], ending=replace(ending, settled="the log of web1 has nothing"))
    actions[1:] = map(ended, actions[1:])
    assert over(*actions)[1] == "✗ web1: it did not run, says who looked: the log of web1 has nothing"


@pytest.mark.parametrize(
    ("dropped_bytes", "says"),
    [
        ((0, 0), ""),
        ((1 << 30, 0), "web1: 1.0 GiB of 1.0 GiB not kept"),
        ((1 << 30, 1 << 30), "2.0 GiB of the output of 2 hosts not kept: web1, web2"),
    ],
)
def test_output_that_was_not_kept_is_told(dropped_bytes: tuple[int, ...], says: str) -> None:
    actions = [ended(one, dropped=count) for one, count in zip(webs(2), dropped_bytes, strict=True)]
    assert results.not_kept(actions) == says


def test_secrets_in_reasons_are_masked() -> None:
    actions = webs(4)
    actions[0] = failed(actions[0], "password=hunter2 was refused\n", note="saw tr0ub4dor")
    actions[1:] = map(ended, actions[1:])
    said = "\n".join(over(*actions))
    assert "✗ web1: exit 1: saw *** · password=*** was refused" in said
    assert "hunter2" not in said


def test_a_reason_is_one_line_however_long() -> None:
    actions = webs(4)
    actions[0] = failed(actions[0], "x" * 5_000, note="y\n" * 400)
    actions[1:] = map(ended, actions[1:])
    line = over(*actions)[1]
    assert "\n" not in line
    assert len(line) < 260


def test_only_the_time_in_which_something_ran_counts() -> None:
    first, second, third = webs(3)
    first = ended(first, run_s=4)
    second = ended(second, run_s=3)  # beside the first
    third = replace(running(third), started_at=NOW + timedelta(minutes=4))
    assert busy_s([first, second, third], NOW + timedelta(minutes=5)) == 64
    assert busy_s([], NOW) == 0
