"""Settings of the model, each given when a process starts; see test_every_setting."""

from pathlib import Path

import pytest

from bot.planning.model.endpoint import key_of, open_thinker, problems
from tests.bot.settings.changing import UNREAD, Check, configured, entering, started
from tests.simulators.model.double import Scripted, call, calls, says

CHECKS: dict[str, Check] = {}
check = entering(CHECKS)


@check("model.provider")
async def _provider(folder: Path) -> None:
    assert open_thinker(configured(folder), {}) is None
    flags = ("model.provider=anthropic", "model.name=claude")
    thinker = open_thinker(configured(folder, *flags), {"ANTHROPIC_API_KEY": "sk-test"})
    assert thinker is not None
    assert thinker.name == "anthropic:claude"


@check("model.name")
async def _model_name(folder: Path) -> None:
    found = problems(configured(folder, "model.provider=openai"), {"OPENAI_API_KEY": "sk-test"})
    assert [one.key for one in found] == ["model.name"]


@check("model.base_url")
async def _base_url(folder: Path) -> None:
    found = problems(configured(folder, "model.provider=compatible", "model.name=x"), {})
    assert [one.key for one in found] == ["model.base_url"]


def _write_key(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "key").write_text("sk-of-a-file\n")
    (folder / "key").chmod(0o600)


@check("model.api_key_file")
async def _api_key_file(folder: Path) -> None:
    _write_key(folder)
    flags = ("model.provider=openai", "model.name=x", f"model.api_key_file={folder}/key")
    assert key_of(configured(folder, *flags), {"OPENAI_API_KEY": "sk-other"}) == "sk-of-a-file"


async def planned(folder: Path, *flags: str) -> tuple[str, Scripted]:
    """Return what a plan of two calls came to, and its model."""
    look = calls(call("run", target="local", command="uptime", purpose="look"))
    model = Scripted([look, says("It is well.")])
    async with started(folder, *flags, thinker=model) as kit:
        return await kit.say(UNREAD), model


@check("model.calls")
async def _model_calls(folder: Path) -> None:
    assert "its 1 calls are used up (model.calls)" in (await planned(folder, "model.calls=1"))[0]


@check("model.tokens")
async def _model_tokens(folder: Path) -> None:
    assert "(model.tokens)" in (await planned(folder, "model.tokens=1000"))[0]


@check("model.answer_tokens")
async def _answer_tokens(folder: Path) -> None:
    assert (await planned(folder, "model.answer_tokens=150"))[1].thoughts[0].answer_tokens == 150


@check("model.seconds")
async def _model_seconds(folder: Path) -> None:
    assert (await planned(folder, "model.seconds=5"))[1].thoughts[0].timeout_s == 5


@check("model.call_s")
async def _call_s(folder: Path) -> None:
    assert (await planned(folder, "model.call_s=7"))[1].thoughts[0].timeout_s == 7


@check("model.money")
async def _money(folder: Path) -> None:
    assert "(model.money)" in (await planned(folder, "model.money=0.01", "model.price_in=1000"))[0]


@check("model.price_in")
async def _price_in(folder: Path) -> None:
    # Two calls, of 100 tokens in and 20 out each.
    assert "0.02 of 1.00" in (await planned(folder, "model.price_in=100"))[0]


@check("model.price_out")
async def _price_out(folder: Path) -> None:
    assert "0.04 of 10.00" in (await planned(folder, "model.price_out=1000", "model.money=10.00"))[0]


@pytest.mark.parametrize("key", sorted(CHECKS))
async def test_a_changed_setting_makes_a_difference(tmp_path: Path, key: str) -> None:
    await CHECKS[key](tmp_path)
