"""Routing: the whole table of posture, switch and verdict, and what no setting may ever do."""

from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.domain import Deed, Radius, ReasonCode, Risk, RouteKind, Target, TargetId, TargetState, Verdict
from gate.policy import Catastrophic, Policy, Posture, Switches
from gate.route import route, stricter
from tests.gate.makers import WEB1, action, verdict

AUTO, YES, PHRASE, DENY = RouteKind.AUTO, RouteKind.APPROVAL, RouteKind.PHRASE, RouteKind.DENY
LETTERS = {"a": AUTO, "y": YES, "p": PHRASE, "-": DENY}
UNKNOWN = Radius(known=False)

#: The columns of the tables below.
VERDICTS = (
    verdict(Risk.READ_ONLY, auto_run=True),
    verdict(Risk.READ_ONLY),
    verdict(Risk.REVERSIBLE_LOW),
    verdict(Risk.CONFIG_MUTATION),
    verdict(Risk.DESTRUCTIVE),
    verdict(Risk.DESTRUCTIVE, never="wipes /"),
)


@dataclass(frozen=True, kw_only=True)
class Setting:
    switches: Switches = field(default_factory=Switches)
    target: Target = WEB1
    catastrophic: Catastrophic = Catastrophic.DENY
    frozen: tuple[TargetId, ...] = ()
    purpose: str = "as asked"
    posture: Posture = Posture.APPROVE_MOST


SETTINGS = {
    "nothing": Setting(),
    "stopped": Setting(switches=Switches(stopped=True)),
    "auto off": Setting(switches=Switches(auto_off=True)),
    "approve everything": Setting(switches=Switches(approve_everything=True)),
    "never here by switch": Setting(switches=Switches(never_auto_act=(WEB1.id,))),
    "never elsewhere by switch": Setting(switches=Switches(never_auto_act=(TargetId("web2"),))),
    "never here by target": Setting(target=replace(WEB1, never_auto_act=True)),
    "stopped and auto off": Setting(switches=Switches(stopped=True, auto_off=True)),
    "another shell": Setting(target=replace(WEB1, shell="fish")),
    "frozen here": Setting(frozen=(WEB1.id,)),
    "frozen elsewhere": Setting(frozen=(TargetId("web2"),)),
    "destroyed": Setting(target=replace(WEB1, state=TargetState.DESTROYED)),
    "catastrophic by phrase": Setting(catastrophic=Catastrophic.PHRASE),
    "no purpose": Setting(purpose=" "),
}

# Letters: a at once, y a yes, p a phrase, - denied. Columns as in VERDICTS:
# certainly read-only, perhaps read-only, reversible_low, config_mutation, destructive, never list.
TABLE = """
                            approve_most  approve_config  approve_all
nothing                     ayyyp-        ayayp-          yyyyp-
stopped                     -yyyp-        -y-yp-          yyyyp-
auto off                    yyyyp-        yyyyp-          yyyyp-
approve everything          yyyyp-        yyyyp-          yyyyp-
never here by switch        yyyyp-        yyyyp-          yyyyp-
never elsewhere by switch   ayyyp-        ayayp-          yyyyp-
never here by target        yyyyp-        yyyyp-          yyyyp-
stopped and auto off        -yyyp-        -y-yp-          yyyyp-
another shell               yyyyp-        yyyyp-          yyyyp-
frozen here                 ay----        ay----          yy----
frozen elsewhere            ayyyp-        ayayp-          yyyyp-
destroyed                   ------        ------          ------
catastrophic by phrase      ayyypp        ayaypp          yyyypp
no purpose                  ------        ------          ------
"""


def _rows() -> list[tuple[str, Posture, str]]:
    head, *rows = (line.rsplit(maxsplit=3) for line in TABLE.strip("\n").splitlines())
    postures = [Posture(name) for name in head]
    return [
        (name.strip(), posture, letters)
        for name, *cells in rows
        for posture, letters in zip(postures, cells, strict=True)
    ]


ROWS = _rows()


def _route(setting: Setting, judged: Verdict, *, radius: Radius = UNKNOWN) -> RouteKind:
    policy = Policy(posture=setting.posture, catastrophic=setting.catastrophic)
    asked = replace(action(target=setting.target), purpose=setting.purpose)
    return route(
        asked, judged, policy=policy, switches=setting.switches, radius=radius, frozen=setting.frozen
    ).kind


def test_the_table_is_complete() -> None:
    assert {(name, posture) for name, posture, _ in ROWS} == {
        (name, posture) for name in SETTINGS for posture in Posture
    }
    assert all(len(letters) == len(VERDICTS) for _, _, letters in ROWS)


@pytest.mark.parametrize(("name", "posture", "letters"), ROWS)
def test_each_cell_of_the_table(name: str, posture: Posture, letters: str) -> None:
    setting = replace(SETTINGS[name], posture=posture)
    found = [_route(setting, judged) for judged in VERDICTS]
    assert found == [LETTERS[letter] for letter in letters]


@pytest.mark.parametrize(
    ("name", "judged", "code"),
    [
        ("stopped", VERDICTS[0], ReasonCode.STOPPED),
        ("destroyed", VERDICTS[0], ReasonCode.DESTROYED_TARGET),
        ("no purpose", VERDICTS[2], ReasonCode.EMPTY_PURPOSE),
        ("nothing", VERDICTS[5], ReasonCode.NEVER_LIST),
        ("frozen here", VERDICTS[2], ReasonCode.FROZEN_TARGET),
    ],
)
def test_a_denial_says_why(name: str, judged: Verdict, code: ReasonCode) -> None:
    setting = SETTINGS[name]
    asked = replace(action(target=setting.target), purpose=setting.purpose)
    found = route(
        asked,
        judged,
        policy=Policy(),
        switches=setting.switches,
        radius=UNKNOWN,
        frozen=setting.frozen,
    )
    assert found.reason is not None
    assert found.reason.code is code
    assert found.phrase is None


@pytest.mark.parametrize(
    ("name", "because"),
    [
        ("auto off", "auto off"),
        ("approve everything", "approve everything"),
        ("never here by switch", "never_auto_act web1"),
        ("never here by target", "never_auto_act web1"),
        ("another shell", "shell fish"),
    ],
)
def test_what_narrowed_the_route_is_named(name: str, because: str) -> None:
    setting = SETTINGS[name]
    found = route(
        action(target=setting.target),
        VERDICTS[0],
        policy=Policy(),
        switches=setting.switches,
        radius=UNKNOWN,
    )
    assert found.because == because


@pytest.mark.parametrize(
    ("posture", "judged", "because"),
    [
        (Posture.APPROVE_MOST, VERDICTS[0], ""),
        (Posture.APPROVE_MOST, VERDICTS[2], ""),
        (Posture.APPROVE_CONFIG, VERDICTS[0], ""),
        (Posture.APPROVE_CONFIG, VERDICTS[2], "posture approve_config"),
        (Posture.APPROVE_ALL, VERDICTS[0], "posture approve_all"),
    ],
)
def test_the_posture_is_named_where_it_moved_the_route(
    posture: Posture, judged: Verdict, because: str
) -> None:
    found = route(action(), judged, policy=Policy(posture=posture), switches=Switches(), radius=UNKNOWN)
    assert found.because == because


@pytest.mark.parametrize(
    ("dependants", "expected"),
    [(0, AUTO), (4, AUTO), (5, YES), (6, YES)],
)
def test_a_large_blast_radius_forces_an_approval(dependants: int, expected: RouteKind) -> None:
    policy = Policy(posture=Posture.APPROVE_CONFIG, force_approval_at=5)
    radius = Radius(known=True, services=tuple(f"s{number}" for number in range(dependants)))
    found = route(action(), VERDICTS[2], policy=policy, switches=Switches(), radius=radius)
    assert found.kind is expected
    assert found.because == ("posture approve_config" if expected is AUTO else "policy.force_approval_at 5")


@pytest.mark.parametrize("posture", Posture)
def test_a_config_change_with_a_large_blast_radius_takes_the_number_as_phrase(posture: Posture) -> None:
    policy = Policy(posture=posture, force_approval_at=2)
    for count, kind in ((1, YES), (2, PHRASE)):
        radius = Radius(known=True, targets=tuple(TargetId(f"t{number}") for number in range(count)))
        found = route(action(), VERDICTS[3], policy=policy, switches=Switches(), radius=radius)
        assert found.kind is kind
    assert found.phrase == "change 2 on web1"
    assert found.because == "policy.force_approval_at 2"


@pytest.mark.parametrize("risk", [Risk.REVERSIBLE_LOW, Risk.CONFIG_MUTATION, Risk.DESTRUCTIVE])
def test_a_verdict_that_contradicts_itself_does_not_run_at_once(risk: Risk) -> None:
    assert _route(SETTINGS["nothing"], verdict(risk, auto_run=True)) is not AUTO


def test_reading_is_not_held_back_by_its_blast_radius() -> None:
    radius = Radius(known=True, services=("a", "b"))
    policy = Policy(force_approval_at=1)
    assert route(action(), VERDICTS[0], policy=policy, switches=Switches(), radius=radius).kind is AUTO


def test_the_phrase_is_derived_from_the_deed() -> None:
    judged = replace(VERDICTS[4], deed=Deed(verb="destroy", object="ct-112"))
    found = route(action(), judged, policy=Policy(), switches=Switches(), radius=UNKNOWN)
    assert found.phrase == "destroy ct-112 on web1"


@pytest.mark.parametrize(
    ("new", "old", "expected"),
    [(YES, AUTO, True), (YES, YES, False), (AUTO, DENY, False), (DENY, PHRASE, True)],
)
def test_stricter_is_an_order(new: RouteKind, old: RouteKind, *, expected: bool) -> None:
    assert stricter(new, old) is expected


# ---------------------------------------------------------------- what holds for all of it

names = st.lists(st.sampled_from([WEB1.id, TargetId("web2")]), max_size=2).map(tuple)
switch_sets = st.builds(
    Switches,
    stopped=st.booleans(),
    auto_off=st.booleans(),
    approve_everything=st.booleans(),
    never_auto_act=names,
)
# Verdicts that contradict themselves are in it: a bug of a reader must not run anything at once.
verdicts = st.builds(
    Verdict,
    risk=st.sampled_from(Risk),
    auto_run=st.booleans(),
    never=st.sampled_from([None, "wipes /"]),
    reasons=st.just(("so",)),
)
settings_of = st.builds(
    Setting,
    switches=switch_sets,
    target=st.builds(
        replace,
        st.just(WEB1),
        never_auto_act=st.booleans(),
        shell=st.sampled_from(["bash", "sh"]),
        state=st.sampled_from(TargetState),
    ),
    catastrophic=st.sampled_from(Catastrophic),
    frozen=names,
    posture=st.sampled_from(Posture),
)


def _joined(one: Switches, other: Switches) -> Switches:
    return Switches(
        stopped=one.stopped or other.stopped,
        auto_off=one.auto_off or other.auto_off,
        approve_everything=one.approve_everything or other.approve_everything,
        never_auto_act=one.never_auto_act + other.never_auto_act,
    )


@given(settings_of, verdicts, switch_sets)
def test_another_switch_never_makes_it_less_strict(setting: Setting, judged: Verdict, more: Switches) -> None:
    before = _route(setting, judged)
    after = _route(replace(setting, switches=_joined(setting.switches, more)), judged)
    assert not stricter(before, after)


@given(settings_of, verdicts)
def test_freezing_or_destroying_a_target_never_makes_it_less_strict(
    setting: Setting, judged: Verdict
) -> None:
    before = _route(setting, judged)
    frozen = replace(setting, frozen=(*setting.frozen, WEB1.id))
    gone = replace(setting, target=replace(setting.target, state=TargetState.DESTROYED))
    assert not stricter(before, _route(frozen, judged))
    assert _route(gone, judged) is DENY


@given(settings_of, verdicts)
def test_what_is_not_certainly_read_only_never_runs_at_once_by_default(
    setting: Setting, judged: Verdict
) -> None:
    judged = replace(judged, auto_run=False)
    for posture in (Posture.APPROVE_MOST, Posture.APPROVE_ALL):
        assert _route(replace(setting, posture=posture), judged) is not AUTO


@given(settings_of, verdicts)
def test_what_changes_something_runs_at_once_only_where_the_operator_widened_it(
    setting: Setting, judged: Verdict
) -> None:
    if _route(setting, judged) is AUTO and judged.risk is not Risk.READ_ONLY:
        assert judged.risk is Risk.REVERSIBLE_LOW
        assert setting.posture is Posture.APPROVE_CONFIG


@given(settings_of, verdicts)
def test_destruction_takes_its_phrase_or_nothing(setting: Setting, judged: Verdict) -> None:
    if judged.risk is Risk.DESTRUCTIVE or judged.never is not None:
        assert _route(setting, judged) in (PHRASE, DENY)


@given(settings_of, verdicts)
def test_nothing_starts_at_once_while_stopped(setting: Setting, judged: Verdict) -> None:
    stopped = replace(setting, switches=replace(setting.switches, stopped=True))
    assert _route(stopped, judged) is not AUTO


@given(settings_of, verdicts)
def test_a_phrase_is_given_exactly_where_one_is_wanted(setting: Setting, judged: Verdict) -> None:
    found = route(
        action(target=setting.target),
        judged,
        policy=Policy(posture=setting.posture, catastrophic=setting.catastrophic),
        switches=setting.switches,
        radius=UNKNOWN,
        frozen=setting.frozen,
    )
    assert (found.phrase is not None) is (found.kind is PHRASE)
    assert (found.reason is not None) is (found.kind is DENY)
