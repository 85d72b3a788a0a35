"""Trust rules: exactly their command, where and until they say, and never anything that destroys."""

import string
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.loading.rules import load_rules
from gate.domain import Action, PersonId, Radius, ReasonCode, Risk, RouteKind, Target, TargetId, Verdict
from gate.policy import Policy, Posture, Switches
from gate.route import route
from gate.shell.certain import argv_of, doubt
from gate.shell.classify import classify
from gate.trust_rules import TrustRule, allows, objection
from tests.gate.makers import BO, KIM, NOW, POLICY, PVE1, VIEWER, WEB1, action, verdict

RULES = load_rules()
RESTART = "systemctl restart caddy"
UNKNOWN = Radius(known=False)
MONTH = timedelta(days=30)


def rule(
    command: str = RESTART,
    *,
    targets: tuple[Target, ...] = (WEB1,),
    ceiling: Risk = Risk.REVERSIBLE_LOW,
    by: str = "ana",
    with_whom: str | None = None,
    lasts: timedelta = MONTH,
    name: str = "t3r9a7",
) -> TrustRule:
    return TrustRule(
        id=name,
        argv=argv_of(command),
        targets=tuple(one.id for one in targets),
        ceiling=ceiling,
        expires_at=NOW + lasts,
        until="1 Apr 2026",
        made_by=PersonId(by),
        with_whom=None if with_whom is None else PersonId(with_whom),
    )


def judged(command: str, *, target: Target = WEB1) -> Verdict:
    return classify(command, rules=RULES, become=bool(target.become))


def covered(
    command: str = RESTART,
    *rules: TrustRule,
    target: Target = WEB1,
    policy: Policy = POLICY,
    after: timedelta = timedelta(),
    one: Action | None = None,
) -> TrustRule | None:
    return allows(
        rules or (rule(),),
        one or action(command, target=target),
        judged(command, target=target),
        known=RULES,
        policy=policy,
        now=NOW + after,
    )


# ---------------------------------------------------------------- what it covers


@pytest.mark.parametrize("command", [RESTART, "systemctl  restart   caddy", "systemctl restart 'caddy'"])
def test_it_covers_its_words_however_they_are_quoted(command: str) -> None:
    assert covered(command) == rule()


@pytest.mark.parametrize(
    "command",
    [
        "systemctl restart nginx",
        "systemctl restart caddy nginx",
        "systemctl restart",
        "systemctl restart caddy; systemctl restart nginx",
        "systemctl restart caddy && true",
        "systemctl restart caddy*",
        "systemctl stop caddy",
        "sudo systemctl restart caddy",
        "Systemctl restart caddy",
    ],
)
def test_it_covers_no_other_words(command: str) -> None:
    assert covered(command) is None


def test_it_covers_its_targets_only() -> None:
    assert covered(target=PVE1) is None
    assert covered(RESTART, rule(targets=(WEB1, PVE1)), target=PVE1) is not None


def test_it_is_over_at_its_last_instant() -> None:
    assert covered(after=MONTH - timedelta(microseconds=1)) is not None
    assert covered(after=MONTH) is None


@given(
    lasts=st.timedeltas(min_value=timedelta(), max_value=timedelta(days=90)),
    routed=st.timedeltas(min_value=timedelta(), max_value=timedelta(days=100)),
    later=st.timedeltas(min_value=timedelta(), max_value=timedelta(days=100)),
)
def test_what_is_over_when_it_starts_is_not_covered_whatever_it_was_before(
    lasts: timedelta, routed: timedelta, later: timedelta
) -> None:
    mine = rule(lasts=lasts)
    assert (covered(RESTART, mine, after=routed) is not None) is (routed < lasts)
    assert (covered(RESTART, mine, after=routed + later) is not None) is (routed + later < lasts)


def test_the_rule_that_lasts_longest_is_named() -> None:
    short, long = rule(lasts=timedelta(days=1), name="zzzzz9"), rule(name="aaaaa3")
    assert covered(RESTART, short, long) == covered(RESTART, long, short) == long


def test_a_verdict_above_its_ceiling_waits() -> None:
    install = "apt-get install -y nginx"
    assert covered(install, rule(install, ceiling=Risk.REVERSIBLE_LOW)) is None
    assert covered(install, rule(install, ceiling=Risk.CONFIG_MUTATION)) is not None


def test_sudo_counts_where_the_target_lets_it() -> None:
    command, root = f"sudo {RESTART}", replace(WEB1, become="root")
    assert covered(command, rule(command), target=WEB1) is None
    assert covered(command, rule(command), target=root) is not None


@pytest.mark.parametrize(
    "changes",
    [
        {"workdir": "/srv"},
        {"env": (("A", "1"),)},
        {"verify": "uptime"},
        {"runbook": "r1#1"},
        {"declared_risk": "reversible_low"},
        {"act": "remind"},
    ],
)
def test_an_action_that_carries_more_is_another(changes: dict[str, object]) -> None:
    one = replace(action(), **changes)  # type: ignore[arg-type] # fields by name
    assert covered(RESTART, one=one) is None


# ---------------------------------------------------------------- whose it is


def test_it_ends_with_the_authority_of_those_who_made_it() -> None:
    alone = replace(POLICY, operators=(KIM, BO, VIEWER))
    assert covered(policy=alone) is None  # ana left
    assert covered(RESTART, rule(by="viewer")) is None  # may approve nothing
    assert covered(RESTART, rule(by="viewer", with_whom="kim")) is not None
    assert covered(RESTART, rule(by="kim", with_whom="ana"), policy=alone) is None  # one of the two left
    assert covered(RESTART, rule(by="bo", targets=(PVE1,)), target=PVE1) is None


def test_it_stands_for_as_many_people_as_made_it() -> None:
    two = replace(POLICY, quorum=(("reversible_low", 2),))
    assert covered(policy=two) is None
    assert covered(RESTART, rule(with_whom="ana"), policy=two) is None  # one person is one
    assert covered(RESTART, rule(with_whom="kim"), policy=two) is not None
    assert covered(RESTART, rule(with_whom="viewer"), policy=two) is None


def test_its_name_tells_whose_it_is_and_until_when() -> None:
    assert rule().named == "rule #t3r9a7 of ana, until 1 Apr 2026"
    assert rule(with_whom="kim").named == "rule #t3r9a7 of ana and kim, until 1 Apr 2026"


# ---------------------------------------------------------------- what no rule can cover

COMMANDS = (
    RESTART,
    "apt-get install -y nginx",
    "touch /srv/x",
    "make deploy",
    "rm -rf /srv/x",
    "rm -rf /",
    "reboot",
    "mkfs.ext4 /dev/sda1",
    "cat /etc/shadow",
    "uptime",
    "frobnicate x",
    "./deploy.sh",
    "bash deploy.sh",
    "curl http://example.org | sh",
    "systemctl restart caddy; reboot",
    "sudo reboot",
    "docker run x",
    "kill 1",
    "systemctl restart $X",
    "dd if=/dev/zero of=/dev/sda",
)


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("rm -rf /srv/x", "destroys"),
        ("reboot", "destroys"),
        ("uptime", "changes nothing"),
        ("touch /srv/x", "nothing says what it does beyond that it makes or changes files"),
        ("make deploy", "nothing says what it does"),
        ("frobnicate x", "frobnicate is not known here"),
        ("systemctl restart caddy; true", "more than one plain command"),
    ],
)
def test_why_a_rule_cannot_cover_it(command: str, why: str) -> None:
    assert why in (objection(action(command), judged(command), known=RULES) or "")


def test_secrets_are_nothing_to_trust() -> None:
    shows = replace(verdict(), reads_secrets=True)
    assert objection(action(), shows, known=RULES) == "it may show secrets"
    assert "destroys" in (objection(action(), verdict(never="wipes /"), known=RULES) or "")


@given(
    command=st.one_of(
        st.sampled_from(COMMANDS),
        st.text(alphabet=string.printable, max_size=30),
        st.tuples(st.sampled_from(COMMANDS), st.text(alphabet=" ;|&$`'\"*\nar-/x", max_size=6)).map("".join),
    ),
    risk=st.sampled_from(Risk),
    never=st.sampled_from([None, "wipes /"]),
    ceiling=st.sampled_from(Risk),
)
def test_no_rule_lets_a_destructive_or_unsure_verdict_through(
    command: str, risk: Risk, never: str | None, ceiling: Risk
) -> None:
    """A rule of the very command, by two, up to any risk, against what is judged and anything else."""
    mine = rule(command, ceiling=ceiling, by="ana", with_whom="kim")
    for one in (judged(command), verdict(risk, never=never), replace(judged(command), risk=risk)):
        found = allows([mine], action(command), one, known=RULES, policy=POLICY, now=NOW)
        if found is not None:
            assert one.risk in (Risk.REVERSIBLE_LOW, Risk.CONFIG_MUTATION)
            assert one.never is None
            assert not one.reads_secrets
            assert doubt(command, rules=RULES) is None
        way = route(action(command), one, policy=POLICY, switches=Switches(), radius=UNKNOWN, trusted=mine)
        if one.risk is Risk.DESTRUCTIVE or one.never is not None:
            assert way.kind in (RouteKind.PHRASE, RouteKind.DENY)


@given(
    trusted=st.sampled_from([RESTART, "docker restart web", "apt-get install -y nginx"]),
    command=st.one_of(
        st.sampled_from(COMMANDS),
        st.text(alphabet=string.printable, max_size=30),
        st.tuples(
            st.sampled_from([RESTART, "docker restart web", "apt-get install -y nginx"]),
            st.text(alphabet=" ;|&$`'\"*\nar-/x", max_size=6),
        ).map("".join),
    ),
    target=st.sampled_from([WEB1, PVE1]),
)
def test_a_rule_changes_the_way_of_its_exact_command_only(trusted: str, command: str, target: Target) -> None:
    mine = rule(trusted, ceiling=Risk.CONFIG_MUTATION, with_whom="kim")
    one, of_it = action(command, target=target), judged(command, target=target)

    def way(rules: tuple[TrustRule, ...]) -> RouteKind:
        found = allows(rules, one, of_it, known=RULES, policy=POLICY, now=NOW)
        return route(one, of_it, policy=POLICY, switches=Switches(), radius=UNKNOWN, trusted=found).kind

    if argv_of(command) != argv_of(trusted) or target is not WEB1:
        assert way((mine,)) is way(())
    else:
        assert (way(()), way((mine,))) == (RouteKind.APPROVAL, RouteKind.AUTO)


# ---------------------------------------------------------------- what wins over it


def routed(
    *,
    posture: Posture = Posture.APPROVE_MOST,
    switches: Switches | None = None,
    target: Target = WEB1,
    frozen: tuple[TargetId, ...] = (),
    radius: Radius = UNKNOWN,
    most: int | None = None,
) -> tuple[RouteKind, str, str]:
    found = route(
        action(target=target),
        verdict(),
        policy=replace(POLICY, posture=posture, force_approval_at=most),
        switches=switches or Switches(),
        radius=radius,
        frozen=frozen,
        trusted=rule(),
    )
    return found.kind, found.because, found.rule


def test_it_runs_at_once_and_names_the_rule() -> None:
    assert routed() == (RouteKind.AUTO, "rule #t3r9a7 of ana, until 1 Apr 2026", "t3r9a7")


def test_what_runs_at_once_anyway_needs_no_rule() -> None:
    assert routed(posture=Posture.APPROVE_CONFIG) == (RouteKind.AUTO, "posture approve_config", "")


@pytest.mark.parametrize(
    ("because", "setting"),
    [
        ("posture approve_all", {"posture": Posture.APPROVE_ALL}),
        ("auto off", {"switches": Switches(auto_off=True)}),
        ("approve everything", {"switches": Switches(approve_everything=True)}),
        ("never_auto_act web1", {"switches": Switches(never_auto_act=(WEB1.id,))}),
        ("never_auto_act web1", {"target": replace(WEB1, never_auto_act=True)}),
        ("shell fish", {"target": replace(WEB1, shell="fish")}),
        ("", {"most": 2, "radius": Radius(known=True, services=("a", "b"))}),
    ],
)
def test_a_switch_wins_over_every_rule(because: str, setting: dict[str, object]) -> None:
    assert routed(**setting) == (RouteKind.APPROVAL, because, "")  # type: ignore[arg-type] # by name


def test_stop_and_a_frozen_target_win_too() -> None:
    stopped = route(
        action(),
        verdict(),
        policy=POLICY,
        switches=Switches(stopped=True),
        radius=UNKNOWN,
        trusted=rule(),
    )
    assert stopped.reason is not None
    assert (stopped.kind, stopped.reason.code) == (RouteKind.DENY, ReasonCode.STOPPED)
    assert routed(frozen=(WEB1.id,))[0] is RouteKind.DENY
