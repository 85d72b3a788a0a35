"""Settings changed by words: who may, what is refused with the way to do it, what takes a phrase (D19)."""

import json
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from bot.settings.layers import Candidate, Layer
from gate.autonomy import Level
from gate.domain import Risk
from gate.policy import Permission
from ledger.kinds import Kind
from tests.kit import Kit, conversation, person

TWO = (person("ana"), person("bo"))


def file(**said: str) -> Mapping[Layer, Mapping[str, Candidate]]:
    return {
        Layer.FILE: {
            key.replace("__", "."): Candidate(layer=Layer.FILE, where="/etc/sayso.toml", value=value)
            for key, value in said.items()
        }
    }


def level(kit: Kit, key: str = "autonomy.max") -> Level:
    return kit.core.settings.level(key)


def bodies(kit: Kit, kind: Kind) -> list[dict[str, object]]:
    rows = kit.core.ledger.reader().execute("SELECT body FROM entry WHERE kind=? ORDER BY seq", (kind,))
    return [json.loads(row[0]) for row in rows]


# ---------------------------------------------------------------- shown


@pytest.mark.parametrize("said", ["settings", "/settings", "/sayso settings", "show settings", "Settings."])
async def test_what_may_be_changed_here_is_listed_with_its_origin(tmp_path: Path, said: str) -> None:
    async with conversation(tmp_path, settings=file(autonomy__max="propose")) as kit:
        shown = await kit.say(said)
        listed = re.sub(" +", " ", shown)
        assert "autonomy.max propose (file /etc/sayso.toml; displaced default run)" in listed
        assert "default; requested run, lowered to propose by autonomy.max (file))" in shown
        assert "policy.posture" not in shown
        assert kit.kinds().count("proposal:made") == 0


@pytest.mark.parametrize(
    ("key", "told"),
    [
        ("autonomy.max", "Whoever can write the config file can raise it there."),
        ("repair.autonomy", "Takes: off, advise, ask, propose, apply, run."),
        ("policy.quorum", "Protected. Change policy.quorum in the config file and restart."),
        ("bot.ssh_config", "Takes a restart."),
        ("repair.autonmy", "there is no such setting. Nearest: repair.autonomy."),
    ],
)
async def test_one_is_explained_with_the_way_to_change_it(tmp_path: Path, key: str, told: str) -> None:
    async with conversation(tmp_path) as kit:
        assert told in await kit.say(f"settings {key}")
        assert told in await kit.say(f"/settings {key}")


# ---------------------------------------------------------------- changed


@pytest.mark.parametrize(
    "said",
    [
        "set repair.autonomy to off",
        "set repair.autonomy off",
        "/set repair.autonomy=off",
        "settings set repair.autonomy off",
    ],
)
async def test_a_change_counts_at_once_and_is_taken_back(tmp_path: Path, said: str) -> None:
    async with conversation(tmp_path) as kit:
        assert "repair.autonomy is off from now on. Before: advise." in await kit.say(said)
        assert level(kit, "repair.autonomy") is Level.OFF
        (body,) = bodies(kit, Kind.SETTING_CHANGED)
        assert (body["key"], body["value"], body["by"]) == ("repair.autonomy", "off", "ana")
        assert "runtime ana, entry" in await kit.say("settings repair.autonomy")
        assert "repair.autonomy is advise from now on. Before: off." in await kit.say("unset repair.autonomy")
        assert level(kit, "repair.autonomy") is Level.ADVISE


async def test_a_change_outlives_a_restart(tmp_path: Path) -> None:
    async with conversation(tmp_path) as kit:
        await kit.say("set bot.action_timeout_s to 30")
    async with conversation(tmp_path) as kit:
        assert kit.core.settings.number("bot.action_timeout_s") == 30


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            "set policy.approval_s to 60",
            "policy.approval_s is protected. Change policy.approval_s in the config",
        ),
        ("set policy.posture to approve_all", "Say  posture approve_all  instead"),
        ("set ledger.retention_days to 1", "ledger.retention_days is protected."),
        ("set operators.ana to x", "operators.ana is protected."),
        ("set routing.destructive to x", "routing.destructive is protected."),
        ("set adapters.slack.token to x", "adapters.slack.token is protected."),
        ("set safety.hitl_enabled to false", "safety.hitl_enabled is protected."),
        ("set agent.commitment.mode to yolo", "agent.commitment.mode is protected."),
        ("set bot.ssh_config to /tmp/x", "bot.ssh_config takes a restart, so nothing changed."),
        ("unset bot.ssh_config", "bot.ssh_config takes a restart, so nothing changed."),
        ("set repair.autonmy to off", "Nearest: repair.autonomy."),
        ("unset no.such_key", "There is no setting no.such_key."),
        ("set repair.autonomy to plan", "Input should be 'off', 'advise'"),
        ("set bot.action_timeout_s to soon", "Input should be a valid integer"),
        ("set bot.timezone to Europe/Berln", "there is no such time zone. Nearest: Europe/Berlin."),
        ("set repair.autonomy to advise", "repair.autonomy is advise already. Nothing changed."),
    ],
)
async def test_what_may_not_be_or_would_do_nothing_is_refused_with_the_way_to_do_it(
    tmp_path: Path, said: str, told: str
) -> None:
    async with conversation(tmp_path) as kit:
        assert told in await kit.say(said)
        assert bodies(kit, Kind.SETTING_CHANGED) == []
        assert bodies(kit, Kind.SETTING_CLEARED) == []
        assert kit.core.queries.settings() == {}


@pytest.mark.parametrize(
    "said", ["set it to run", "set the clock on web1", "set net.ipv4.ip_forward to 1 on web1"]
)
async def test_other_things_that_are_set_are_requests(tmp_path: Path, said: str) -> None:
    async with conversation(tmp_path) as kit:
        assert "setting" not in (await kit.say(said)).casefold().replace("settings ·", "")


async def test_strangers_change_and_see_nothing(tmp_path: Path) -> None:
    async with conversation(tmp_path) as kit:
        for said in ("settings", "set repair.autonomy to off"):
            assert "autonomy" not in await kit.say(said, by="mallory")
        assert kit.core.queries.settings() == {}


# ---------------------------------------------------------------- ceilings


async def test_a_ceiling_of_the_config_is_not_raised_by_words(tmp_path: Path) -> None:
    async with conversation(tmp_path, settings=file(autonomy__max="propose")) as kit:
        shown = await kit.say("set autonomy.max to run")
        assert "the config says propose (file /etc/sayso.toml); nothing said here goes above that." in shown
        assert "Change autonomy.max in the config file and restart." in shown
        assert level(kit) is Level.PROPOSE
        assert kit.core.queries.settings() == {}


async def test_a_ceiling_is_lowered_by_one_word_of_anybody_and_says_what_it_lowers(tmp_path: Path) -> None:
    small = person("bo", Permission(risk=Risk.READ_ONLY))
    async with conversation(tmp_path, operators=(person("ana"), small)) as kit:
        shown = await kit.say("set autonomy.max to ask", by="bo")
        assert "autonomy.max is ask from now on. Before: run." in shown
        assert "schedule.autonomy: requested run, lowered to ask by autonomy.max (runtime)." in shown
        assert level(kit, "schedule.autonomy") is Level.ASK


@pytest.mark.parametrize("said", ["set autonomy.max to run", "unset autonomy.max"])
async def test_a_ceiling_persisted_at_run_time_is_raised_by_the_phrase_of_a_second_person(
    tmp_path: Path, said: str
) -> None:
    async with conversation(tmp_path, operators=TWO) as kit:
        await kit.say("set autonomy.max to ask")
    async with conversation(tmp_path, operators=TWO) as kit:
        assert level(kit) is Level.ASK
        shown = await kit.say(said)
        assert "so bo types:  raise autonomy.max to run" in shown
        assert level(kit) is Level.ASK
        for by, words in (("ana", "yes"), ("bo", "yes"), ("ana", "raise autonomy.max to run")):
            await kit.say(words, by=by)
            assert level(kit) is Level.ASK
        await kit.say("raise autonomy.max to run", by="bo")
        assert level(kit) is Level.RUN


async def test_whoever_may_not_loosen_raises_nothing(tmp_path: Path) -> None:
    small = person("ana", Permission(risk=Risk.READ_ONLY))
    async with conversation(tmp_path, operators=(small,)) as kit:
        await kit.say("set autonomy.max to ask")
        await kit.say("set autonomy.max to run")
        await kit.say("raise autonomy.max to run")
        assert level(kit) is Level.ASK


async def test_a_ceiling_that_was_lowered_below_the_config_goes_back_up_to_it_at_most(tmp_path: Path) -> None:
    async with conversation(tmp_path, settings=file(autonomy__max="propose")) as kit:
        await kit.say("set autonomy.max to off")
        assert "Type:  raise autonomy.max to propose" in await kit.say("set autonomy.max to propose")
        await kit.say("raise autonomy.max to propose")
        assert level(kit) is Level.PROPOSE
        assert "nothing said here goes above that" in await kit.say("set autonomy.max to apply")


async def test_a_dial_that_would_act_takes_the_phrase_and_one_that_only_shows_does_not(
    tmp_path: Path,
) -> None:
    async with conversation(tmp_path) as kit:
        assert "from now on" in await kit.say("set repair.autonomy to propose")
        assert "Type:  raise repair.autonomy to run" in await kit.say("set repair.autonomy to run")
        assert level(kit, "repair.autonomy") is Level.PROPOSE
        await kit.say("raise repair.autonomy to run")
        assert level(kit, "repair.autonomy") is Level.RUN


async def test_a_dial_above_the_ceiling_is_lowered_and_never_refused(tmp_path: Path) -> None:
    async with conversation(tmp_path, settings=file(autonomy__max="ask")) as kit:
        shown = await kit.say("set repair.autonomy to propose")
        assert "repair.autonomy: requested propose, lowered to ask by autonomy.max (file)." in shown
        assert level(kit, "repair.autonomy") is Level.ASK


async def test_a_phrase_that_was_asked_for_before_a_change_counts_for_nothing(tmp_path: Path) -> None:
    async with conversation(tmp_path, operators=TWO) as kit:
        await kit.say("set autonomy.max to ask")
        await kit.say("set autonomy.max to run")
        await kit.say("set autonomy.max to off")
        await kit.say("raise autonomy.max to run", by="bo")
        assert level(kit) is Level.OFF
        assert [body["value"] for body in bodies(kit, Kind.SETTING_CHANGED)] == ["ask", "off"]
