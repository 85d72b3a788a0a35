"""Names of places in the config, and what may be sent there."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from bot.settings.config import Config, load, rehearsal
from bot.settings.errors import ConfigError
from bot.settings.paths import Paths

PLACES = """
[places]
ops = "chat:T1:C1"
alerts = "chat::-100:17.5"
desk = "console::desk"
[adapters.chat]
"""


def config(
    text: str, folder: Path, *, environ: Mapping[str, str] | None = None, flags: Sequence[str] = ()
) -> Config:
    file = folder / "config.toml"
    file.write_text(text)
    return load(file=file, environ=environ or {}, flags=flags, login="ana", paths=Paths(folder))


def test_a_place_has_the_name_that_the_config_gives_it(tmp_path: Path) -> None:
    found = config(PLACES, tmp_path)
    assert found.places == {"ops": "chat:T1:C1", "alerts": "chat::-100:17.5", "desk": "console::desk"}
    assert found.with_runtime({}).places == found.places
    assert rehearsal(found, scratch=tmp_path).places == {}, "a rehearsal reaches nobody"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('web = "slack:T1:C1"', "slack is not switched on, so nothing gets there. Add [adapters.slack]"),
        ('web = "C1"', 'Write a place as "platform:tenant:channel"'),
        ('web = "chat::"', 'Write a place as "platform:tenant:channel"'),
        ("web = 1", "valid string"),
        ('Ops = "chat::C2"', "lower-case letters"),
        ('"#web" = "chat::C2"', "lower-case letters"),
        ('web = "chat:T1:C1"', "chat:T1:C1 is ops already. A place has one name."),
    ],
)
def test_what_is_no_place_is_an_error(tmp_path: Path, line: str, told: str) -> None:
    with pytest.raises(ConfigError) as caught:
        config(PLACES.replace("[adapters.chat]", f"{line}\n[adapters.chat]"), tmp_path)
    (problem,) = map(str, caught.value.problems)
    assert "places." in problem
    assert told in problem


def test_a_name_is_given_once(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="TOML"):
        config('[places]\nops = "chat::C1"\nops = "chat::C2"', tmp_path)


def test_every_named_place_is_allowed_unless_a_list_says_which(tmp_path: Path) -> None:
    assert config(PLACES, tmp_path).values["outbound.allowed"].value == ()
    found = config(f'{PLACES}\n[outbound]\nallowed = ["ops"]', tmp_path)
    assert found.values["outbound.allowed"].value == ("ops",)


def test_only_what_has_a_name_can_be_allowed(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        config(f'{PLACES}\n[outbound]\nallowed = ["op"]', tmp_path)
    assert '"op": ' in str(caught.value)
    assert "ops" in str(caught.value)


@pytest.mark.parametrize(
    ("variable", "flag", "allowed"),
    [
        ("ops", "ops,desk", ("ops",)),
        ("ops,desk", "", ("ops", "desk")),  # naming nothing allows no more
        ("", "", ("ops", "alerts", "desk")),
        ("ops,alerts", "alerts,desk", ("alerts",)),
        ("ops", "desk", ("ops",)),  # nothing in common is no "everything"
    ],
)
def test_a_layer_can_only_narrow_what_is_allowed(
    tmp_path: Path, variable: str, flag: str, allowed: tuple[str, ...]
) -> None:
    found = config(
        f'{PLACES}\n[outbound]\nallowed = ["ops", "alerts", "desk"]',
        tmp_path,
        environ={"SAYSO_OUTBOUND_ALLOWED": variable},
        flags=[f"outbound.allowed={flag}"],
    )
    assert found.values["outbound.allowed"].value == allowed
