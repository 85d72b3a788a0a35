"""The published schema refuses what it should; everything the adapter sends passes it in the simulator."""

from typing import Any

import pytest

from tests.simulators.discord import limits, published
from tests.simulators.discord.limits import RefusalError


def button(**more: Any) -> dict[str, Any]:
    return {"type": 2, "style": 3, "label": "Approve", "custom_id": "s1:token"} | more


def message(*buttons: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"content": "go?", "components": [{"type": 1, "components": list(buttons)}]} | more


def modal(**more: Any) -> dict[str, Any]:
    field = {"type": 4, "style": 1, "custom_id": "value", "label": "Phrase"}
    data = {"custom_id": "f1", "title": "Type the phrase", "components": [{"type": 1, "components": [field]}]}
    return {"type": 9, "data": data | more}


def test_what_is_well_formed_passes() -> None:
    published.check("message_create", message(button()))
    published.check("modal", modal())


@pytest.mark.parametrize(
    "body",
    [
        message(button(custom_id="x" * 101)),
        message(button(label="x" * 81)),
        message(button(style=9)),
        message(button(type=99)),
        message(*[button(custom_id=f"b{number}") for number in range(6)]),
        message(button(), content=7),
        message(button(), allowed_mentions={"parse": ["everybody"]}),
    ],
)
def test_what_is_not_is_refused(body: dict[str, Any]) -> None:
    with pytest.raises(RefusalError):
        published.check("message_create", body)


@pytest.mark.parametrize("more", [{"title": "x" * 46}, {"custom_id": "x" * 101}, {"components": []}])
def test_a_form_beyond_the_limits_is_refused(more: dict[str, Any]) -> None:
    with pytest.raises(RefusalError):
        published.check("modal", modal(**more))


def test_what_the_schema_leaves_out_the_limits_know() -> None:
    long = message(button(), content="x" * 2001)
    published.check("message_create", long)
    with pytest.raises(RefusalError):
        limits.check_message(long, {})
