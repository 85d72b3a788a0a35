"""What a person weighs before a yes to a fan-out: the card while it waits."""

from dataclasses import replace

from gate.domain import PersonId, Radius, Risk, TargetId, TargetKind
from ledger.views import VoteView
from tests.bot.fanout.scenes import RELOAD, RELOADS, drawn, fanout, hosts, message, view, webs
from tests.gate.makers import NOW


def test_what_waits_says_what_how_many_who_and_how_it_goes() -> None:
    radius = Radius(known=True, services=("blog", "wiki"))
    actions = [replace(one, radius=radius) for one in webs()]
    actions[11] = replace(actions[11], radius=Radius(known=True, services=("wiki", "shop", "git")))
    card = message(fanout(*actions))
    assert card.body.plain().splitlines() == [
        "◔ @web · 12 hosts · reload nginx",
        RELOAD,
        "web1 to web12",
        "reversible: reloads a service",
        "4 services depend on them (blog, wiki, +2)",
        "web1 first; then 10 at a time; stops at the first failure",
        'Say "go ahead" or press a button.',
        "until 14:15 · #k7f3a2 · asked by ana",
    ]
    assert [button.label for button in card.buttons] == ["Approve", "Deny", "Details", "Edit"]


def test_a_command_without_a_better_name_stands_there_once() -> None:
    actions = [view(name, index, command="true") for index, name in enumerate(hosts(4), 1)]
    lines = drawn(fanout(*actions)).splitlines()
    assert lines[0] == "◔ @web · 4 hosts · true"
    assert lines.count("true") == 0


def test_the_phrase_is_said_once_and_marks_the_card() -> None:
    actions = [
        view(name, index, command="reboot", phrase="reboot 12 hosts", risk=Risk.DESTRUCTIVE)
        for index, name in enumerate(hosts(12), 1)
    ]
    card = message(fanout(*actions))
    shown = card.body.plain()
    assert shown.startswith("▲ @web · 12 hosts · reboot")
    assert shown.count("reboot 12 hosts") == 1
    assert "To run it, type:  reboot 12 hosts" in shown
    assert "go ahead" not in shown
    assert [button.label for button in card.buttons] == ["Type phrase", "Deny", "Details", "Edit"]


def test_the_strictest_is_told_first_and_for_whom_it_is_so() -> None:
    actions = webs(5)
    strict = replace(RELOADS, risk=Risk.CONFIG_MUTATION, reasons=("rewrites its configuration", "odd"))
    actions[3] = replace(actions[3], verdict=strict)
    lines = drawn(fanout(*actions)).splitlines()
    assert lines[3] == "changes configuration: rewrites its configuration (1 of 5: web4)"
    assert lines[4] == "reversible: reloads a service (4 of 5: web1 to web3, web5)"


def test_other_reasons_of_the_same_risk_are_counted() -> None:
    actions = webs(4)
    actions[1] = replace(actions[1], verdict=replace(RELOADS, reasons=("does more there",)))
    assert "reversible: reloads a service, and 1 other reason" in drawn(fanout(*actions))


def test_what_a_reader_cannot_see_is_told_whatever_is_first() -> None:
    odd = "holds an invisible or control character (U+202E)"
    actions = webs(4)
    actions[2] = replace(actions[2], verdict=replace(RELOADS, reasons=("reloads a service", odd)))
    assert f"{odd} (1 of 4: web3)" in drawn(fanout(*actions))


def test_what_cannot_be_undone_on_some_is_told() -> None:
    actions = [replace(one, verdict=replace(RELOADS, undo="none needed")) for one in webs(4)]
    assert "undo" not in drawn(fanout(*actions))
    actions[0] = replace(actions[0], verdict=replace(RELOADS, undo="cannot be undone"))
    assert "cannot be undone (1 of 4: web1)" in drawn(fanout(*actions))
    alike = [replace(one, verdict=replace(RELOADS, undo="reload again")) for one in webs(4)]
    assert "undo: reload again" in drawn(fanout(*alike))


def test_what_depends_on_them_is_unknown_where_one_is() -> None:
    actions = webs(4)
    assert "unknown what depends on them" in drawn(fanout(*actions))
    known = [replace(one, radius=Radius(known=True)) for one in actions]
    assert "nothing known depends on them" in drawn(fanout(*known))
    known[0] = replace(known[0], radius=Radius(known=False, services=("blog",), targets=(TargetId("db1"),)))
    assert "1 service and 1 target depend on them (blog, db1), maybe more" in drawn(fanout(*known))


def test_of_what_touches_nothing_that_is_known_no_dependants_are_told() -> None:
    actions = [view(name, index, command="touch /tmp/x") for index, name in enumerate(hosts(4), 1)]
    assert "depend" not in drawn(fanout(*actions))


def test_what_makes_it_wait_the_check_and_secrets_are_told() -> None:
    actions = [
        replace(
            view(name, index, verify="nginx -t", judged=replace(RELOADS, reads_secrets=True)),
            because="posture approve_most",
        )
        for index, name in enumerate(hosts(4), 1)
    ]
    shown = drawn(fanout(*actions))
    assert "then checks each: nginx -t" in shown
    assert "waits because of: posture approve_most" in shown
    assert "shows secrets; what is recognised is masked" in shown


def test_containers_are_targets_and_names_that_say_it_all_are_no_selector() -> None:
    actions = webs(4)
    made = replace(actions[2].action.target, kind=TargetKind.DOCKER)
    actions[2] = replace(actions[2], action=replace(actions[2].action, target=made))
    assert drawn(fanout(*actions, selector=("web1", "web2"))).startswith("◔ 4 targets · reload nginx")
    assert drawn(fanout(*actions, selector=("@web", "db1"))).startswith("◔ @web, db1 · 4 targets")


def test_votes_stand_where_it_takes_several() -> None:
    waits = fanout(*webs(4))
    vote = VoteView(person=PersonId("ana"), at=NOW, said="yes")
    able = (PersonId("ana"), PersonId("kim"))
    actions = [
        replace(one, approval=replace(one.approval, quorum=2, votes=(vote,), deciders=able))
        for one in waits.actions
        if one.approval is not None
    ]
    assert "1 of 2: ana" in drawn(replace(waits, actions=tuple(actions)))
