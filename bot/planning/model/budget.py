"""Budgets of a plan: calls, tokens, seconds and money, counted before each call of the model.

Pure. What a call may take is set aside before it is made; of a call whose end is unknown all of that counts
as used. Money is counted in millionths, and only where a price is known.
"""

from dataclasses import dataclass

from bot.settings.live import Settings
from bot.settings.money import micros, written

#: Characters that are one token at the least, so that an estimate is rather too high.
_CHARS_PER_TOKEN = 3
_MILLION = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What one plan may take; prices are in millionths for a million tokens, 0 where unknown."""

    calls: int
    tokens: int
    seconds: int
    micros: int
    answer_tokens: int
    call_s: int
    price_in: int = 0
    price_out: int = 0

    @property
    def is_priced(self) -> bool:
        """Whether money is counted at all."""
        return bool(self.price_in or self.price_out)

    def price(self, tokens_in: int, tokens_out: int) -> int:
        """Return what that many tokens cost, in millionths, rounded up."""
        return -(-(tokens_in * self.price_in + tokens_out * self.price_out) // _MILLION)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What a plan has taken so far."""

    calls: int = 0
    tokens: int = 0
    seconds: float = 0.0
    micros: int = 0

    def __add__(self, other: "Spent") -> "Spent":
        return Spent(
            calls=self.calls + other.calls,
            tokens=self.tokens + other.tokens,
            seconds=self.seconds + other.seconds,
            micros=self.micros + other.micros,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """What the next call may take: `reserve` is set aside for it."""

    answer_tokens: int
    timeout_s: float
    reserve: Spent


@dataclass(frozen=True, slots=True, kw_only=True)
class Exhausted:
    """A budget that does not cover another call; `key` is its setting."""

    key: str
    words: str


def budget_of(settings: Settings) -> Budget:
    """Return the budget that the settings say."""
    number = settings.number
    return Budget(
        calls=number("model.calls"),
        tokens=number("model.tokens"),
        seconds=number("model.seconds"),
        micros=micros(settings.text("model.money")),
        answer_tokens=number("model.answer_tokens"),
        call_s=number("model.call_s"),
        price_in=micros(settings.text("model.price_in")),
        price_out=micros(settings.text("model.price_out")),
    )


def allow(budget: Budget, spent: Spent, *, chars: int) -> Allowance | Exhausted:
    """Return what the next call may take, or which budget does not cover it.

    Args:
        chars: how many characters it says to the model.
    """
    asked = tokens_of(chars)
    if spent.calls >= budget.calls:
        return Exhausted(key="model.calls", words=f"its {budget.calls} calls are used up")
    left = budget.tokens - spent.tokens - asked
    if left < budget.answer_tokens:
        return Exhausted(key="model.tokens", words=f"{spent.tokens} of its {budget.tokens} tokens are used")
    left_s = budget.seconds - spent.seconds
    if left_s < 1:
        return Exhausted(key="model.seconds", words=f"its {budget.seconds} seconds are used up")
    price = budget.price(asked, budget.answer_tokens)
    if budget.is_priced and spent.micros + price > budget.micros:
        text = f"{written(spent.micros)} of its {written(budget.micros)} is used, and a call costs up to"
        return Exhausted(key="model.money", words=f"{text} {written(price)}")
    timeout_s = min(float(budget.call_s), left_s)
    return Allowance(
        answer_tokens=budget.answer_tokens,
        timeout_s=timeout_s,
        reserve=Spent(calls=1, tokens=asked + budget.answer_tokens, seconds=timeout_s, micros=price),
    )


def tokens_of(chars: int) -> int:
    """Return how many tokens that many characters are, rather too many than too few."""
    return -(-chars // _CHARS_PER_TOKEN)


def told(budget: Budget, spent: Spent) -> str:
    """Return what was used of what may be: "3 of 12 calls · 2310 of 100000 tokens · 4 of 300 s"."""
    parts = [
        f"{spent.calls} of {budget.calls} calls",
        f"{spent.tokens} of {budget.tokens} tokens",
        f"{spent.seconds:.0f} of {budget.seconds} s",
    ]
    if budget.is_priced:
        parts.append(f"{written(spent.micros)} of {written(budget.micros)}")
    return " · ".join(parts)
