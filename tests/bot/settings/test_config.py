"""The config: layers, provenance, what is refused and how it is told."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from bot.settings.config import Config, load, machine_zone, rehearsal
from bot.settings.errors import ConfigError
from bot.settings.layers import Candidate, Layer
from bot.settings.paths import Paths, config_file, state_paths
from bot.settings.registry import SETTINGS
from gate.domain import Risk
from gate.policy import Catastrophic, Permission, Posture, Switches

HOME = Path("/home/ana")


def config(
    text: str = "",
    *,
    folder: Path,
    environ: Mapping[str, str] | None = None,
    flags: Sequence[str] = (),
    login: str = "ana",
) -> Config:
    file = None
    if text:
        file = folder / "config.toml"
        file.write_text(text)
    return load(
        file=file,
        environ=environ or {},
        flags=flags,
        login=login,
        paths=Paths(folder / "state"),
        zone="Europe/Oslo",
    )


def problems(text: str = "", *, folder: Path, **more: object) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        config(text, folder=folder, **more)  # type: ignore[arg-type]  # passed on
    return [str(problem).replace(str(folder), "") for problem in caught.value.problems]


# ---------------------------------------------------------------- without a file


def test_without_a_file_the_user_owns_this_machine(tmp_path: Path) -> None:
    found = config(folder=tmp_path)
    (owner,) = found.policy.operators
    assert (owner.id, owner.accounts) == ("ana", ("console::ana",))
    assert owner.may == (Permission(risk=Risk.DESTRUCTIVE, targets=("*",)),)
    assert (owner.timezone, found.zone) == ("", "Europe/Oslo")
    assert list(found.targets) == ["local"]
    assert found.policy.posture is Posture.APPROVE_MOST
    assert found.policy.catastrophic is Catastrophic.DENY
    assert found.floor == Switches()
    assert found.people_from == found.targets_from == "default"


@pytest.mark.parametrize("name", ["sayso", "agent", "bot"])
def test_the_agent_is_never_an_operator(tmp_path: Path, name: str) -> None:
    assert "never decides" in problems(folder=tmp_path, login=name)[0]
    assert "never decides" in problems(f"[operators.{name}]", folder=tmp_path)[0]


def test_a_daemon_user_named_sayso_works_with_operators_of_its_own(tmp_path: Path) -> None:
    found = config('[operators.ana]\naccounts = ["console::ana"]', folder=tmp_path, login="sayso")
    assert [person.id for person in found.policy.operators] == ["ana"]


def test_tables_of_the_file_displace_the_defaults(tmp_path: Path) -> None:
    found = config("[operators.bo]\n[targets.web1]", folder=tmp_path)
    assert [person.id for person in found.policy.operators] == ["bo"]
    assert found.policy.operators[0].may == ()
    assert list(found.targets) == ["web1"]


# ---------------------------------------------------------------- layers


def test_the_highest_layer_wins_and_what_it_displaced_is_kept(tmp_path: Path) -> None:
    found = config(
        "[bot]\naction_timeout_s = 60",
        folder=tmp_path,
        environ={"SAYSO_BOT_ACTION_TIMEOUT_S": "70"},
        flags=["bot.action_timeout_s=80"],
    )
    resolved = found.values["bot.action_timeout_s"]
    assert found.number("bot.action_timeout_s") == 80
    assert [(c.layer, c.value) for c in resolved.displaced] == [
        (Layer.DEFAULT, 600),
        (Layer.FILE, 60),
        (Layer.ENVIRONMENT, 70),
    ]
    assert resolved.why == "flag --set"


@pytest.mark.parametrize(
    ("file", "environment", "flag", "wins"),
    [
        ("approve_all", "approve_config", "approve_most", Posture.APPROVE_ALL),
        ("approve_config", "approve_all", "approve_config", Posture.APPROVE_ALL),
        ("approve_config", "approve_config", "approve_most", Posture.APPROVE_MOST),
        ("approve_config", "approve_config", "approve_config", Posture.APPROVE_CONFIG),
    ],
)
def test_for_a_safety_key_the_most_restrictive_layer_wins(
    tmp_path: Path, file: str, environment: str, flag: str, wins: Posture
) -> None:
    found = config(
        f'[policy]\nposture = "{file}"',
        folder=tmp_path,
        environ={"SAYSO_POLICY_POSTURE": environment},
        flags=[f"policy.posture={flag}"],
    )
    assert found.policy.posture is wins


def test_the_default_of_a_safety_key_can_be_loosened_by_one_layer_alone(tmp_path: Path) -> None:
    assert (
        config(folder=tmp_path, flags=["policy.posture=approve_config"]).policy.posture
        is Posture.APPROVE_CONFIG
    )


@pytest.mark.parametrize(
    ("key", "loose", "tight"),
    [
        ("policy.catastrophic", "phrase", "deny"),
        ("policy.separate_requester", "never", "always"),
        ("policy.separate_requester", "never", "auto"),
        ("policy.separate_requester", "auto", "always"),
        ("policy.approval_s", "3600", "60"),
        ("policy.start_within_s", "3600", "60"),
        ("policy.clarification_s", "3600", "60"),
        ("policy.force_approval_at", "0", "5"),
        ("policy.force_approval_at", "9", "5"),
        ("policy.bare_ack_grants", "true", "false"),
        ("policy.stopped", "false", "true"),
        ("policy.auto_act", "true", "false"),
        ("policy.approve_everything", "false", "true"),
    ],
)
def test_every_safety_key_is_tightened_from_either_side(
    tmp_path: Path, key: str, loose: str, tight: str
) -> None:
    variable = "SAYSO_" + key.replace(".", "_").upper()
    for low, high in ((loose, tight), (tight, loose)):
        found = config(folder=tmp_path, environ={variable: low}, flags=[f"{key}={high}"])
        assert str(found.values[key].value).lower() == tight
        assert "most restrictive" in found.values[key].why


def test_lists_of_protected_targets_are_put_together(tmp_path: Path) -> None:
    found = config(
        '[targets.a]\n[targets.b]\n[policy]\nnever_auto_act = ["a"]',
        folder=tmp_path,
        environ={"SAYSO_POLICY_NEVER_AUTO_ACT": "b, a"},
    )
    assert found.floor.never_auto_act == ("a", "b")
    assert len(found.values["policy.never_auto_act"].origin) == 2


def test_every_policy_key_is_a_safety_key() -> None:
    assert all(setting.tightest is not None for setting in SETTINGS if setting.section == "policy")


def test_runtime_can_tighten_and_not_loosen_what_is_set(tmp_path: Path) -> None:
    found = config('[policy]\nposture = "approve_most"', folder=tmp_path)

    def at_runtime(posture: Posture) -> Posture:
        said = {"policy.posture": Candidate(layer=Layer.RUNTIME, where="#k7f3a2", value=posture)}
        return found.with_runtime(said).policy.posture

    assert at_runtime(Posture.APPROVE_ALL) is Posture.APPROVE_ALL
    assert at_runtime(Posture.APPROVE_CONFIG) is Posture.APPROVE_MOST


def test_switches_of_the_config_are_a_floor(tmp_path: Path) -> None:
    found = config("[policy]\nstopped = true\nauto_act = false\napprove_everything = true", folder=tmp_path)
    assert found.floor == Switches(stopped=True, auto_off=True, approve_everything=True)


@pytest.mark.parametrize(("word", "value"), [("never", False), ("auto", None), ("always", True)])
def test_separation_is_told_to_the_gate(tmp_path: Path, word: str, value: bool | None) -> None:  # noqa: FBT001
    found = config(folder=tmp_path, flags=[f"policy.separate_requester={word}"])
    assert found.policy.separate_requester is value


def test_the_revision_is_of_the_content(tmp_path: Path) -> None:
    one = config(folder=tmp_path).policy.revision
    assert one == config("[bot]\naction_timeout_s = 5", folder=tmp_path).policy.revision
    assert one != config(folder=tmp_path, flags=["policy.approval_s=60"]).policy.revision
    assert len(one) == 64


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[bot]\ntimezon = 1", "/config.toml:2: bot.timezon: there is no such key. Nearest: timezone."),
        ("[polcy]\nposture = 1", "/config.toml:1: polcy: there is no such section. Nearest: policy."),
        (
            "[targets.web1]\nadress = 'x'",
            "/config.toml:2: targets.web1.adress: there is no such key. Nearest: address.",
        ),
        (
            "[operators.ana]\nrole = []",
            "/config.toml:2: operators.ana.role: there is no such key. Nearest: roles.",
        ),
        (
            "[services.x]\ndepend = []",
            "/config.toml:2: services.x.depend: there is no such key. Nearest: depends_on.",
        ),
        (
            "[operators.ana]\nmay = [{ risk = 'read_only', target = [] }]",
            "/config.toml:2: operators.ana.may.0.target: there is no such key. Nearest: targets.",
        ),
        (
            "[bot]\n\n\ntimezone = 'Europe/Berln'",
            "bot.timezone: there is no such time zone. Nearest: Europe/Berlin.",
        ),
        (
            "[policy]\napproval_s = '900'",
            "/config.toml:2: policy.approval_s: Input should be a valid integer",
        ),
        ("[policy]\napproval_s = true", "policy.approval_s: Input should be a valid integer"),
        ("[policy]\napproval_s = 1", "greater than or equal to 10 (is 1)."),
        ("[policy]\nposture = 'yolo'", "/config.toml:2: policy.posture: Input should be 'approve_"),
        ("[policy]\nstopped = 'no'", "policy.stopped: Input should be a valid boolean"),
        ("[policy]\nnever_auto_act = ['web1']", 'policy.never_auto_act: "web1": there is no such target.'),
        (
            "[operators.ana]\nmay = [{risk='read_only', targets=['@wb']}]\n[targets.a]\ntags=['web']",
            "Nearest: @web.",
        ),
        ("[operators.ana]\naccounts = ['ana']", "operators.ana.accounts.0:"),
        ("[operators.ana]\ntimezone = 'Mars'", "operators.ana.timezone: there is no such time zone."),
        ("[operators.Ana]", "operators.Ana"),
        (
            "[operators.ana]\naccounts = ['console::x']\n[operators.bo]\naccounts = ['console::x']",
            "operators.bo.accounts: console::x already belongs to ana.",
        ),
        ("posture = ", "not TOML"),
        ("bot = 1", "bot"),
    ],
)
def test_what_is_wrong_is_told_with_file_key_and_nearest(tmp_path: Path, text: str, told: str) -> None:
    assert any(told in problem for problem in problems(text, folder=tmp_path)), problems(
        text, folder=tmp_path
    )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[targets.Web_1]", "targets.Web_1: A name has 1 to 63 lower-case letters"),
        ('[operators.ana]\naccounts = ["ana"]', 'Write an account as "platform:place:name"'),
        ('[targets.shell]\ntags = ["A B"]', "tags.0: A name has 1 to 63 lower-case letters"),
        ('[targets.web1]\naddress = "a b"', "An address is a host name or an IP address"),
    ],
)
def test_what_a_value_may_be_is_told_in_words(tmp_path: Path, text: str, told: str) -> None:
    (problem,) = problems(text, folder=tmp_path)
    assert told in problem
    assert "pattern" not in problem
    assert "^" not in problem


def test_every_problem_is_told_at_once(tmp_path: Path) -> None:
    found = problems("[bot]\nx = 1\n[policy]\ny = 2\n[targets.a]\nz = 3\n[nope]", folder=tmp_path)
    assert len(found) == 4


@pytest.mark.parametrize(
    ("environ", "flags", "told"),
    [
        ({"SAYSO_POLICY_POSTRE": "approve_all"}, [], "Nearest: SAYSO_POLICY_POSTURE."),
        ({"SAYSO_POLICY_POSTURE": "all"}, [], "environment SAYSO_POLICY_POSTURE: policy.posture:"),
        ({"SAYSO_POLICY_STOPPED": "maybe"}, [], "policy.stopped"),
        ({"SAYSO_POLICY_APPROVAL_S": "1.5"}, [], "policy.approval_s"),
        (
            {},
            ["policy.postre=approve_all"],
            "flag --set: policy.postre: there is no such key. Nearest: policy.posture.",
        ),
        ({}, ["policy.posture"], "--set key=value"),
    ],
)
def test_strings_are_checked_like_the_file(
    tmp_path: Path, environ: dict[str, str], flags: list[str], told: str
) -> None:
    assert told in problems(folder=tmp_path, environ=environ, flags=flags)[0]


def test_variables_of_others_are_left_alone(tmp_path: Path) -> None:
    config(
        folder=tmp_path,
        environ={"SAYSO_HOME": "/x", "SAYSO_CONFIG": "/y", "SAYSO_TOKEN": "z", "PATH": "/bin"},
    )


@pytest.mark.parametrize("word", ["true", "YES", "on", "1"])
def test_words_for_true(tmp_path: Path, word: str) -> None:
    assert config(folder=tmp_path, environ={"SAYSO_POLICY_STOPPED": word}).floor.stopped


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        load(file=tmp_path / "none.toml", environ={}, flags=[], login="ana", paths=Paths(tmp_path))
    (tmp_path / "latin.toml").write_bytes(b"# \xff")
    with pytest.raises(ConfigError, match="cannot be read"):
        load(file=tmp_path / "latin.toml", environ={}, flags=[], login="ana", paths=Paths(tmp_path))


# ---------------------------------------------------------------- paths, zones, rehearsals


def test_the_state_folder() -> None:
    assert state_paths({"SAYSO_HOME": "/srv/sayso"}, HOME).state == Path("/srv/sayso")
    assert state_paths({"XDG_STATE_HOME": "/var/x"}, HOME).state == Path("/var/x/sayso")
    assert state_paths({"XDG_STATE_HOME": "relative"}, HOME).state == HOME / ".local/state/sayso"
    assert state_paths({"SAYSO_HOME": ""}, HOME).state == HOME / ".local/state/sayso"


def test_the_config_file() -> None:
    assert config_file({"SAYSO_CONFIG": "/etc/sayso.toml"}, HOME) == (Path("/etc/sayso.toml"), True)
    assert config_file({"XDG_CONFIG_HOME": "/x"}, HOME) == (Path("/x/sayso/config.toml"), False)
    assert config_file({}, HOME) == (HOME / ".config/sayso/config.toml", False)


def test_the_zone_of_the_machine(tmp_path: Path) -> None:
    link = tmp_path / "localtime"
    link.symlink_to("/usr/share/zoneinfo/Europe/Berlin")
    assert machine_zone({}, link) == "Europe/Berlin"
    assert machine_zone({"TZ": ":Asia/Tokyo"}, link) == "Asia/Tokyo"
    assert machine_zone({"TZ": "CET-1CEST"}, link) == "UTC"
    assert machine_zone({}, tmp_path / "none") == "UTC"


def test_a_rehearsal_has_this_machine_only_and_everybody_on_its_console(tmp_path: Path) -> None:
    found = config(
        "[operators.ana]\naccounts=['x:t:1']\n[operators.bo]\n[targets.web1]\n[services.s]", folder=tmp_path
    )
    played = rehearsal(found, scratch=tmp_path / "scratch")
    assert played.rehearsal
    assert list(played.targets) == ["local"]
    assert played.services == {}
    assert played.paths.state == tmp_path / "scratch"
    assert [person.accounts for person in played.policy.operators] == [
        ("x:t:1", "console::ana"),
        ("console::bo",),
    ]


def test_a_person_is_found_by_account(tmp_path: Path) -> None:
    found = config(folder=tmp_path)
    person = found.operator_of("console::ana")
    assert person is not None
    assert person.id == "ana"
    assert found.operator_of("console::bo") is None


def test_asking_for_the_wrong_kind_of_value_is_a_mistake(tmp_path: Path) -> None:
    found = config(folder=tmp_path)
    with pytest.raises(TypeError):
        found.number("bot.timezone")
    with pytest.raises(TypeError):
        found.text("bot.action_timeout_s")
