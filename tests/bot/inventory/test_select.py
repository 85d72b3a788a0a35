import pytest

from bot.inventory import Inventory, NoSuchTarget, TargetConfig, build
from gate.domain import ReasonCode, Target


def _inventory() -> Inventory:
    return build(
        {
            "web1": TargetConfig(tags=("web", "prod")),
            "web11": TargetConfig(tags=("web",)),
            "db": TargetConfig(tags=("prod",)),
            "old": TargetConfig(tags=("web",), state="destroyed"),
        },
        {},
        local_user="ana",
    )


def _names(found: tuple[Target, ...] | NoSuchTarget) -> list[str]:
    assert not isinstance(found, NoSuchTarget)
    return [target.id for target in found]


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        ("web1", ["web1"]),
        ("Web1", ["web1"]),
        ("@web", ["web1", "web11"]),
        ("db,web1", ["db", "web1"]),
        ("db, @prod  web1", ["db", "web1"]),
        ("all", ["web1", "web11", "db"]),
        ("@all", ["web1", "web11", "db"]),
    ],
)
def test_selection_is_ordered_without_doubles_and_without_destroyed(wanted: str, names: list[str]) -> None:
    assert _names(_inventory().select(wanted)) == names


def test_a_tag_that_is_called_all_is_that_tag() -> None:
    tagged = build({"a": TargetConfig(tags=("all",)), "b": TargetConfig()}, {}, local_user="ana")
    assert _names(tagged.select("@all")) == ["a"]
    assert _names(tagged.select("all")) == ["a", "b"]


def test_unknown_target_comes_with_the_nearest_names() -> None:
    found = _inventory().select("webb1")
    assert isinstance(found, NoSuchTarget)
    assert found.nearest == ("web1", "web11")
    assert found.reason.code is ReasonCode.UNKNOWN_TARGET
    assert found.reason.text == "No target webb1. Did you mean web1 or web11? targets lists all."


def test_unknown_part_of_a_list_refuses_the_whole_list() -> None:
    found = _inventory().select("web1,nosuch")
    assert isinstance(found, NoSuchTarget)
    assert found.name == "nosuch"


def test_unknown_tag_is_named_as_a_tag() -> None:
    found = _inventory().select("@wep")
    assert isinstance(found, NoSuchTarget)
    assert found.reason.text == "No tag @wep. Did you mean @web? targets lists all."


def test_destroyed_target_is_refused_by_its_state() -> None:
    found = _inventory().select("old")
    assert isinstance(found, NoSuchTarget)
    assert found.reason.code is ReasonCode.DESTROYED_TARGET


def test_a_name_like_nothing_gets_no_suggestion() -> None:
    found = _inventory().select("zzzzqqqq")
    assert isinstance(found, NoSuchTarget)
    assert found.reason.text == "No target zzzzqqqq. targets lists all."


@pytest.mark.parametrize("wanted", ["", "  ", ",", "@", "web*", "../web1", "-web1"])
def test_nothing_and_patterns_select_nothing(wanted: str) -> None:
    assert isinstance(_inventory().select(wanted), NoSuchTarget)


def test_without_tables_there_is_this_machine() -> None:
    inventory = build({}, {}, local_user="ana")
    assert _names(inventory.select("local")) == ["local"]
