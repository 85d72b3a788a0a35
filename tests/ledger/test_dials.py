"""Settings that were set at run time: what stands, and what a race over it costs."""

import pytest

from ledger.kinds import LostRaceError, SettingsAre
from tests.gate.makers import NOW
from tests.ledger.entries.operators import cleared, setting
from tests.ledger.story import Story


def test_the_newest_value_stands_with_who_set_it(tale: Story) -> None:
    assert tale.queries.settings() == {}
    tale.write(setting("autonomy.max", "ask"))
    tale.write(setting("autonomy.max", "propose", by="kim"), setting("bot.action_timeout_s", 30))
    found = tale.queries.settings()
    assert list(found) == ["autonomy.max", "bot.action_timeout_s"]
    ceiling = found["autonomy.max"]
    assert (ceiling.value, ceiling.person, ceiling.at, ceiling.seq) == ("propose", "kim", NOW, 2)
    assert found["bot.action_timeout_s"].value == 30


def test_what_was_unset_is_gone_and_can_be_set_again(tale: Story) -> None:
    tale.write(setting("bot.timezone", ""))
    assert tale.queries.settings()["bot.timezone"].value == ""
    tale.write(cleared("bot.timezone"))
    assert tale.queries.settings() == {}
    tale.write(setting("bot.timezone", "UTC"))
    assert tale.queries.settings()["bot.timezone"].value == "UTC"


def test_whoever_read_before_a_change_loses(tale: Story) -> None:
    assert tale.queries.setting_seq() == 0
    tale.write(setting("autonomy.max", "ask"), expects=(SettingsAre(0),))
    with pytest.raises(LostRaceError):
        tale.write(setting("autonomy.max", "run"), expects=(SettingsAre(0),))
    tale.write(setting("bot.action_timeout_s", 30))
    seen = tale.queries.setting_seq()
    tale.write(cleared("autonomy.max"), expects=(SettingsAre(seen),))
    with pytest.raises(LostRaceError):
        tale.write(setting("autonomy.max", "run"), expects=(SettingsAre(seen),))
