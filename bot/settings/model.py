"""Settings of the model that plans: which one, its key, and what one request may take of it.

All of it is the owner's alone: nothing here counts at run time, so that no words reach another address or a
larger budget. What is wrong with an endpoint is found by `bot.planning.model.endpoint`.
"""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from bot.settings.money import MONEY, least_money
from bot.settings.setting import Setting, smallest


class Provider(StrEnum):
    """What kind of endpoint a model is behind."""

    OFF = "off"
    OPENAI = "openai"
    ANTHROPIC = "anthropic"
    COMPATIBLE = "compatible"  # anything that speaks as OpenAI's chat completions do


MODEL_SETTINGS: tuple[Setting, ...] = (
    Setting(
        key="model.provider",
        type=Provider,
        default=Provider.OFF,
        help="What kind of model plans requests that no command, title or runbook places: off, openai, "
        "anthropic, compatible (an address that speaks as OpenAI's chat completions do).",
    ),
    Setting(
        key="model.name",
        type=str,
        default="",
        help="Which model, as its provider calls it.",
    ),
    Setting(
        key="model.base_url",
        type=str,
        default="",
        help="Where it is; empty means the provider's own address.",
    ),
    Setting(
        key="model.api_key_file",
        type=str,
        default="",
        help="File with the key and nothing else, mode 600; empty means OPENAI_API_KEY or ANTHROPIC_API_KEY.",
    ),
    Setting(
        key="model.calls",
        type=Annotated[int, Field(ge=1, le=100)],
        default=12,
        tightest=smallest,
        help="Calls of the model that one request may take.",
    ),
    Setting(
        key="model.tokens",
        type=Annotated[int, Field(ge=1000, le=10_000_000)],
        default=100_000,
        tightest=smallest,
        help="Tokens that one request may take, said and answered, over all of its calls.",
    ),
    Setting(
        key="model.answer_tokens",
        type=Annotated[int, Field(ge=100, le=100_000)],
        default=2000,
        tightest=smallest,
        help="Tokens that one answer may have.",
    ),
    Setting(
        key="model.seconds",
        type=Annotated[int, Field(ge=1, le=3600)],
        default=300,
        tightest=smallest,
        help="Seconds that the calls of one request may take together.",
    ),
    Setting(
        key="model.call_s",
        type=Annotated[int, Field(ge=1, le=600)],
        default=90,
        tightest=smallest,
        help="Seconds that one call may take.",
    ),
    Setting(
        key="model.money",
        type=MONEY,
        default="1.00",
        tightest=least_money,
        help="What one request may cost, in the currency of the prices; it counts only where a price is set.",
    ),
    Setting(
        key="model.price_in",
        type=MONEY,
        default="0",
        help="Price of a million tokens that are said to the model; 0 is unknown.",
    ),
    Setting(
        key="model.price_out",
        type=MONEY,
        default="0",
        help="Price of a million tokens that it answers; 0 is unknown.",
    ),
)
