"""Settings as read for each request: what a request may ask for, what a registry may not hold, spellings."""

from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest

from bot.settings.errors import ConfigError
from bot.settings.layers import Candidate, Layer
from bot.settings.live import Settings
from bot.settings.registry import BY_KEY, SETTINGS
from bot.settings.setting import RegistryError, Scope, Setting, check
from bot.settings.strings import StringError
from gate.autonomy import Level
from tests.bot.settings.test_config import config, problems

CEILING, DIAL = BY_KEY["autonomy.max"], BY_KEY["repair.autonomy"]


def said(key: str, value: str) -> dict[str, Candidate]:
    return {key: Candidate(layer=Layer.RUNTIME, where="ana, entry 3", value=value)}


# ---------------------------------------------------------------- requests


def test_a_request_counts_for_what_it_may_carry_and_is_lowered_too() -> None:
    settings = Settings(start={Layer.FILE: said("autonomy.max", "propose")})
    found = settings.value("repair.autonomy", "run")
    assert (found.level, found.requested, found.origin[0].layer) == (Level.PROPOSE, Level.RUN, Layer.CALL)
    assert settings.value("repair.autonomy", "off").level is Level.OFF
    assert settings.value("repair.autonomy", "").level is Level.ADVISE
    assert settings.value("bot.action_timeout_s", "30").value == 30


def test_a_request_that_carries_a_ceiling_is_not_heard() -> None:
    settings = Settings(start={Layer.FILE: said("autonomy.max", "propose")})
    assert settings.value("autonomy.max", "run").level is Level.PROPOSE
    assert settings.value("autonomy.max", "off").level is Level.PROPOSE


@pytest.mark.parametrize("word", ["plan", "RUN", "yolo"])
def test_a_request_for_an_unknown_level_is_an_error(word: str) -> None:
    with pytest.raises(StringError, match="'off', 'advise'"):
        Settings().value("repair.autonomy", word)


def test_what_is_set_at_run_time_is_read_anew_each_time() -> None:
    runtime: dict[str, Candidate] = {}
    settings = Settings(runtime=lambda: runtime)
    assert settings.level("repair.autonomy") is Level.ADVISE
    runtime |= said("repair.autonomy", "off")
    assert settings.level("repair.autonomy") is Level.OFF
    assert settings.value("repair.autonomy").why == "runtime ana, entry 3"
    assert settings.without_runtime("repair.autonomy").level is Level.ADVISE
    assert settings.if_set("repair.autonomy", None).level is Level.ADVISE


def test_asking_for_the_wrong_kind_of_value_is_a_mistake() -> None:
    with pytest.raises(TypeError):
        Settings().number("bot.timezone")
    with pytest.raises(TypeError):
        Settings().text("bot.action_timeout_s")
    with pytest.raises(KeyError):
        Settings().value("no.such")


# ---------------------------------------------------------------- the registry


def test_the_registry_keeps_its_own_rules() -> None:
    check(SETTINGS)
    assert {one.key for one in SETTINGS if one.clamped_by} == {
        "schedule.autonomy",
        "repair.autonomy",
        "runbooks.autonomy",
        "signals.autonomy",
        "planner.autonomy",
        "delegates.autonomy",
    }
    assert CEILING.tightest is not None
    assert not CEILING.hot


SOME: type = Literal["propose", "run"]  # type: ignore[assignment]  # an annotation as a value


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ((replace(DIAL, clamped_by="no.such"),), "there is no ceiling no.such"),
        ((CEILING, replace(DIAL, scope=Scope.DAEMON)), "only what a request may carry is clamped"),
        ((CEILING, replace(DIAL, type=str)), "must both hold words"),
        ((CEILING, replace(DIAL, type=Literal["run", "propose"], default="propose")), "no ordered part"),
        ((CEILING, replace(DIAL, type=Literal["propose", "plan"], default="propose")), "no ordered part"),
        ((replace(CEILING, default=Level.OFF), DIAL), "its default is above"),
        ((replace(CEILING, hot=True), DIAL), "a ceiling is not hot"),
        ((replace(CEILING, scope=Scope.CALL), DIAL), "no request may carry a ceiling"),
        ((replace(CEILING, clamped_by="repair.autonomy"), DIAL), "a ceiling has no ceiling"),
        ((CEILING, CEILING), "two settings are called autonomy.max"),
        (
            (replace(CEILING, key="a.b_c"), replace(CEILING, key="a_b.c")),
            "two settings are called SAYSO_A_B_C",
        ),
    ],
)
def test_a_registry_that_breaks_them_does_not_load(settings: tuple[Setting, ...], why: str) -> None:
    with pytest.raises(RegistryError, match=why):
        check(settings)


def test_a_dial_of_fewer_levels_is_allowed() -> None:
    check((CEILING, replace(DIAL, type=SOME, default="propose")))


# ---------------------------------------------------------------- spellings


def test_one_layer_that_says_two_things_is_an_error(tmp_path: Path) -> None:
    (told,) = problems(folder=tmp_path, flags=["autonomy.max=run", "autonomy.max=ask"])
    assert "it is given twice, as run and as ask" in told
    assert (
        config(folder=tmp_path, flags=["autonomy.max=ask", "autonomy.max=ask"]).text("autonomy.max") == "ask"
    )
    with pytest.raises(ConfigError, match="not TOML"):
        config('autonomy.max = "ask"\n[autonomy]\nmax = "run"', folder=tmp_path)
