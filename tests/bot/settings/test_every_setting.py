"""Every setting there is, changed, and what is different then (D23, M16): one that nobody reads cannot pass.

What counts at once is changed by words in a conversation (test_settings_at_once); what takes a restart is
given when it starts (test_settings_at_start, test_settings_of_model). A setting that is new needs a check
in one of these, or the first test here fails.
"""

from collections.abc import Sequence
from pathlib import Path

from bot.settings.registry import BY_KEY, SETTINGS
from gate.domain import PersonId
from ledger.kinds import Batch, Draft, Kind
from tests.bot.settings.changing import started
from tests.bot.settings.test_settings_at_once import CHECKS as AT_ONCE
from tests.bot.settings.test_settings_at_start import CHECKS as AT_START
from tests.bot.settings.test_settings_at_start import OF_A_PROCESS
from tests.bot.settings.test_settings_of_model import CHECKS as OF_THE_MODEL

CHECKS = {**AT_ONCE, **AT_START, **OF_THE_MODEL}


def test_every_setting_has_a_check() -> None:
    assert set(CHECKS) | OF_A_PROCESS == set(BY_KEY)


async def test_what_takes_a_restart_or_is_protected_says_so_and_stays_as_it_is(tmp_path: Path) -> None:
    keys: Sequence[str] = [one.key for one in SETTINGS if not one.at_run_time]
    assert keys
    async with started(tmp_path) as kit:
        before = kit.core.settings.all()
        for key in keys:
            for said in (f"set {key} to 1", f"unset {key}"):
                assert f"Change {key} in the config file and restart." in await kit.say(said)
        assert kit.core.settings.all() == before
        assert kit.core.queries.settings() == {}


async def test_what_another_version_let_people_set_counts_for_nothing(tmp_path: Path) -> None:
    async with started(tmp_path) as kit:
        for key, value in (("policy.stopped", True), ("no.such", 1), ("bot.action_timeout_s", "soon")):
            body = {"key": key, "value": value, "by": PersonId("ana"), "place": "p"}
            draft = Draft(kind=Kind.SETTING_CHANGED, body=body)
            kit.core.ledger.append(Batch(at=kit.clock.now(), drafts=(draft,)))
        assert len(kit.core.queries.settings()) == 3
        assert not any(one.is_set for one in kit.core.settings.all().values())
        stored = Draft(kind=Kind.SETTING_CHANGED, body={"key": "autonomy.max", "value": "plan", "by": "ana"})
        kit.core.ledger.append(Batch(at=kit.clock.now(), drafts=(stored,)))
        assert kit.core.settings.level("autonomy.max").value == "off"  # a ceiling that nobody can read
