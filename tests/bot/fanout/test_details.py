"""Details of a fan-out: all names, all failures, everything that was judged, the same said once."""

from dataclasses import replace
from datetime import UTC

from bot.cards import Cards
from gate.digest import list_digest, short
from gate.domain import Radius
from gate.lifecycle import ActionState
from ledger.views import ProposalView
from tests.bot.fanout.scenes import CHANGES, ended, fanout, hosts, view
from tests.gate.makers import NOW, verdict

CARDS = Cards(token_key=b"k" * 32, secrets=("tr0ub4dor",), last_run=lambda _: None)


def details(made: ProposalView, *, index: int | None = None) -> list[str]:
    return CARDS.details(made, now=NOW, zone=UTC, index=index).plain().splitlines()


def test_everything_that_was_judged_is_there() -> None:
    names = [f"web{number}" for number in range(1, 60, 2)]
    radius = Radius(known=True, services=tuple(f"service{number}" for number in range(30)))
    actions = [
        replace(view(name, index, verify="nginx -t"), because="posture", radius=radius)
        for index, name in enumerate(names, 1)
    ]
    actions[3] = replace(actions[3], verdict=replace(verdict(), reasons=("because it is so", "and worse")))
    made = fanout(*actions)
    lines = details(made)
    assert lines[1] == "30 hosts · named as @web"
    assert lines[2].split(", ") == names
    assert "systemctl reload nginx" in lines
    assert "class reversible_low · approval · posture" in lines
    assert "- because it is so" in lines
    assert "- and worse (1 of 30: web7)" in lines
    assert f"depend on them: {', '.join(radius.services)}" in lines
    assert "goes: web1 first; then 10 at a time; stops at the first failure" in lines
    assert "then checks each: nginx -t" in lines
    assert "timeout 10 min · shell bash" in lines
    assert f"digest of all {short(list_digest([one.digest for one in actions], CHANGES))}" in lines
    assert not any(short(actions[0].digest) in line for line in lines)


def test_few_have_a_line_each_with_where_they_are_and_their_digest() -> None:
    actions = [view(name, index) for index, name in enumerate(hosts(4), 1)]
    assert f"1 web1 (root@10.0.0.1:22) · waiting · digest {short(actions[0].digest)}" in details(
        fanout(*actions)
    )


def test_what_is_not_so_for_all_says_for_whom() -> None:
    actions = [view(name, index) for index, name in enumerate(hosts(4), 1)]
    made = replace(actions[2].action.target, become="root")
    actions[2] = replace(actions[2], action=replace(actions[2].action, target=made))
    lines = details(fanout(*actions))
    assert "timeout 10 min · shell bash (3 of 4: web1, web2, web4)" in lines
    assert "timeout 10 min · shell bash · as root through sudo (1 of 4: web3)" in lines


def test_every_failure_is_named() -> None:
    actions = [
        ended(view(name, index), ActionState.FAILED, exit_code=1, output=f"error {index % 10}\n")
        for index, name in enumerate(hosts(200), 1)
    ]
    lines = details(fanout(*actions))
    told = [line for line in lines if line.startswith("✗ web")]
    assert len(told) == 10
    named = [name for line in told for name in line[2:].partition(":")[0].split(", ")]
    assert sorted(named) == sorted(hosts(200))


def test_details_of_one_tell_of_that_one_alone() -> None:
    actions = [ended(view(name, index), output="tr0ub4dor") for index, name in enumerate(hosts(5), 1)]
    lines = details(fanout(*actions), index=3)
    assert lines[1].startswith("3 on web3 (root@10.0.0.3:22) · succeeded")
    assert not any("web1" in line or "5 hosts" in line for line in lines)
    # No such target: all of them together.
    assert "5 hosts · named as @web" in details(fanout(*actions), index=9)


def test_what_was_printed_is_there_masked() -> None:
    actions = [ended(view(name, index), output="tr0ub4dor\n") for index, name in enumerate(hosts(5), 1)]
    shown = "\n".join(details(fanout(*actions)))
    assert "5 hosts agree:\n***" in shown
