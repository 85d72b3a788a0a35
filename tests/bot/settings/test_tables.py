"""Settings that are tables: written in a file, a variable or a flag, and put together."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from bot.settings.checks import small_quorums
from bot.settings.config import Config, load, rehearsal
from bot.settings.errors import ConfigError
from bot.settings.inventory import inventory_of
from bot.settings.paths import Paths

_BESIDE = "takes 2 people beside who asked, so none of ana, kim can ask for it."
PEOPLE = """
[operators.ana]
may = [{ risk = "destructive", targets = ["*"] }]
[operators.bo]
may = [{ risk = "config_mutation", targets = ["*"] }]
[operators.kim]
may = [{ risk = "destructive", targets = ["web1"] }]
[targets.web1]
kind = "local"
tags = ["prod"]
[targets.db1]
kind = "local"
"""


def config(
    text: str, folder: Path, *, environ: Mapping[str, str] | None = None, flags: Sequence[str] = ()
) -> Config:
    file = folder / "config.toml"
    file.write_text(PEOPLE + text)
    return load(file=file, environ=environ or {}, flags=flags, login="ana", paths=Paths(folder))


def test_nothing_is_asked_for_by_itself(tmp_path: Path) -> None:
    assert config("", tmp_path).policy.quorum == ()


def test_a_table_says_how_many(tmp_path: Path) -> None:
    found = config('[policy.quorum]\ndestructive = 2\n"@prod" = 3\nweb1 = 2', tmp_path)
    assert dict(found.policy.quorum) == {"@prod": 3, "destructive": 2, "web1": 2}
    assert found.policy.revision != config("", tmp_path).policy.revision


def test_of_the_layers_the_largest_number_counts_for_each_name(tmp_path: Path) -> None:
    found = config(
        "[policy.quorum]\ndestructive = 3\nweb1 = 2",
        tmp_path,
        environ={"SAYSO_POLICY_QUORUM": "destructive=2,web1=4"},
        flags=["policy.quorum=@prod=2"],
    )
    assert dict(found.policy.quorum) == {"@prod": 2, "destructive": 3, "web1": 4}


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("destructiv = 2", "Nearest: destructive"),
        ('"@prd" = 2', "Nearest: @prod"),
        ("destructive = 0", "a number of people from 1 to 99"),
        ("destructive = 100", "a number of people from 1 to 99"),
        ("destructive = -1", "a number of people from 1 to 99"),
        ("destructive = true", "a number of people from 1 to 99"),
        ('destructive = "2"', "a number of people from 1 to 99"),
        ("destructive = 1.5", "a number of people from 1 to 99"),
        ('"*" = 2', "a number of people from 1 to 99"),
    ],
)
def test_what_is_no_number_of_people_is_an_error(tmp_path: Path, line: str, told: str) -> None:
    with pytest.raises(ConfigError) as caught:
        config(f"[policy.quorum]\n{line}", tmp_path)
    (problem,) = map(str, caught.value.problems)
    assert "policy.quorum" in problem
    assert told in problem
    assert "Value error" not in problem


def test_a_list_of_lines_is_the_same_and_a_word_is_an_error(tmp_path: Path) -> None:
    assert config('[policy]\nquorum = ["web1=2"]', tmp_path).policy.quorum == (("web1", 2),)
    with pytest.raises(ConfigError):
        config("[policy]\nquorum = 2", tmp_path)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", []),
        ('[policy]\nseparate_requester = "never"\n[policy.quorum]\nweb1 = 2', []),
        (
            "[policy.quorum]\ndestructive = 2",
            [
                f"policy.quorum: destructive on web1 {_BESIDE}",
                "policy.quorum: destructive on db1 takes 2 people, and ana may approve it.",
            ],
        ),
        (
            '[policy]\nseparate_requester = "never"\n[policy.quorum]\ndestructive = 2',
            ["policy.quorum: destructive on db1 takes 2 people, and ana may approve it."],
        ),
    ],
)
def test_it_warns_where_too_few_may_say_yes(tmp_path: Path, text: str, told: list[str]) -> None:
    found = config(text, tmp_path)
    assert list(small_quorums(found.policy, inventory_of(found).targets.values())) == told


# ---------------------------------------------------------------- routing


def test_routes_are_read_in_their_order(tmp_path: Path) -> None:
    text = '[routing]\n"@prod" = "chat:T1:C1"\nweb1 = "chat::C2:17.5"\nread_only = "chat::-100"'
    found = config(text, tmp_path)
    assert found.policy.routes == (
        ("@prod", "chat:T1:C1"),
        ("web1", "chat::C2:17.5"),
        ("read_only", "chat::-100"),
    )
    assert found.with_runtime({}).policy.routes == found.policy.routes
    assert rehearsal(found, scratch=tmp_path).policy.routes == ()


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('"@prd" = "chat::C1"', "Nearest: @prod"),
        ('destroys = "chat::C1"', "risk, target or tag"),
        ('web1 = "C1"', 'Write a place as "platform:tenant:channel"'),
        ('web1 = "chat:C1"', 'Write a place as "platform:tenant:channel"'),
        ('web1 = "chat::"', 'Write a place as "platform:tenant:channel"'),
        ("web1 = 1", "valid string"),
    ],
)
def test_what_is_no_route_is_an_error(tmp_path: Path, line: str, told: str) -> None:
    with pytest.raises(ConfigError) as caught:
        config(f"[routing]\n{line}", tmp_path)
    (problem,) = map(str, caught.value.problems)
    assert "routing." in problem
    assert told in problem


def test_a_place_for_escalation_is_no_route(tmp_path: Path) -> None:
    found = config('[routing]\nescalation = "chat::oncall"', tmp_path)
    assert (found.policy.routes, found.policy.escalation) == ((), "chat::oncall")
    assert found.with_runtime({}).policy.escalation == "chat::oncall"


# ---------------------------------------------------------------- the ladder


def test_ages_of_the_ladder_are_set_for_all_or_for_a_posture(tmp_path: Path) -> None:
    text = "[policy]\nnudge_s = 100\n[policy.ladder.approve_all]\nnudge_s = 50\nescalate_s = 0"
    found = config(text, tmp_path, environ={"SAYSO_POLICY_LADDER": "approve_all.nudge_s=70"})
    assert (found.policy.nudge_s, found.policy.escalate_s) == (100, 600)
    assert dict(found.policy.ladder) == {"approve_all.nudge_s": 50, "approve_all.escalate_s": 0}


def test_of_the_layers_the_soonest_counts_and_never_only_where_all_say_so(tmp_path: Path) -> None:
    text = "[policy]\nnudge_s = 0\n[policy.ladder.approve_all]\nnudge_s = 0\nescalate_s = 0"
    flags = ["policy.nudge_s=90", "policy.ladder=approve_all.nudge_s=80,approve_all.escalate_s=0"]
    found = config(text, tmp_path, flags=flags)
    assert found.policy.nudge_s == 90
    assert dict(found.policy.ladder) == {"approve_all.nudge_s": 80, "approve_all.escalate_s": 0}


@pytest.mark.parametrize(
    "text",
    [
        "[policy.ladder.approve_some]\nnudge_s = 1",
        "[policy.ladder.approve_all]\nnudge = 1",
        "[policy.ladder.approve_all]\nnudge_s = 86401",
        "[policy.ladder.approve_all]\nnudge_s = -1",
        "[policy.ladder]\napprove_all = 1",
        "[policy.ladder]\nnudge_s = 1",
    ],
)
def test_what_is_no_age_is_an_error(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        config(text, tmp_path)
    (problem,) = map(str, caught.value.problems)
    assert "policy.ladder" in problem
    assert "write nudge_s or escalate_s" in problem
