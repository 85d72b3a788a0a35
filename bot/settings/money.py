"""Settings that are amounts of money: decimal text such as "0.50", written as a number in the file as well.

A float would say what was never written, so an amount stays the text of it; `micros` is what is counted with.
"""

from collections.abc import Sequence
from decimal import Decimal
from typing import Annotated

from pydantic import BeforeValidator, Field

_MICROS = 1_000_000


def _as_text(value: object) -> object:
    """Return a number as the text that it was written as; anything else as it is, for the type to judge."""
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


#: An amount from 0 to 999999.999999.
MONEY = Annotated[str, BeforeValidator(_as_text), Field(pattern=r"^[0-9]{1,6}(\.[0-9]{1,6})?$")]


def micros(amount: str) -> int:
    """Return an amount as millionths, which is what money is counted in."""
    return int(Decimal(amount) * _MICROS)


def written(amount: int) -> str:
    """Return millionths as "0.0123" or "1.00": two digits at least, four at most."""
    text = f"{Decimal(amount) / _MICROS:.4f}"
    return text.removesuffix("00")


def least_money(values: Sequence[object]) -> str:
    """Return the smallest amount."""
    return min((str(value) for value in values), key=micros)
