"""config.example.toml loads, and names every key there is."""

import tomllib
from pathlib import Path

import pytest

from bot.inventory.config import ServiceConfig, TargetConfig
from bot.settings.config import load
from bot.settings.document import MayConfig, OperatorConfig
from bot.settings.inventory import inventory_of
from bot.settings.paths import Paths
from bot.settings.registry import SETTINGS

ROOT = Path(__file__).parents[3]
EXAMPLE = ROOT / "config.example.toml"
RAW = tomllib.loads(EXAMPLE.read_text())


def test_the_example_loads_and_its_inventory_fits_together(tmp_path: Path) -> None:
    config = load(file=EXAMPLE, environ={}, flags=[], login="ana", paths=Paths(tmp_path))
    assert len(inventory_of(config).targets) == len(RAW["targets"])


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.key)
def test_every_setting_is_in_it_with_its_default(setting) -> None:  # noqa: ANN001  # a Setting
    shown = RAW[setting.section][setting.name]
    if setting.key != "policy.never_auto_act":  # an empty list would explain nothing
        assert (tuple(shown) if isinstance(shown, list | dict) else shown) == setting.default


@pytest.mark.parametrize(
    ("model", "tables"),
    [
        (OperatorConfig, list(RAW["operators"].values())),
        (TargetConfig, list(RAW["targets"].values())),
        (ServiceConfig, list(RAW["services"].values())),
        (MayConfig, RAW["operators"]["ana"]["may"]),
    ],
)
def test_every_key_of_the_tables_is_in_it(model, tables: list[dict[str, object]]) -> None:  # noqa: ANN001  # a model
    assert set(model.model_fields) == {key for table in tables for key in table}


def test_every_setting_has_help_that_ends_a_sentence() -> None:
    assert all(setting.help.endswith(".") for setting in SETTINGS)


def test_no_secret_is_in_it() -> None:
    assert not [
        line for line in EXAMPLE.read_text().splitlines() if "password =" in line or "token =" in line
    ]
