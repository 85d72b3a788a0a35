"""Budgets of a plan: what a call may take, and what does not cover another."""

import pytest

from bot.planning.model.budget import Allowance, Budget, Exhausted, Spent, allow, tokens_of, told
from bot.settings.money import least_money, micros, written

BUDGET = Budget(calls=3, tokens=10_000, seconds=100, micros=500_000, answer_tokens=1000, call_s=60)
PRICED = Budget(
    calls=3,
    tokens=10_000,
    seconds=100,
    micros=20_000,
    answer_tokens=1000,
    call_s=60,
    price_in=2_000_000,
    price_out=10_000_000,
)


def test_what_a_call_may_take_is_set_aside() -> None:
    allowed = allow(BUDGET, Spent(calls=1, tokens=100, seconds=70.0), chars=3000)
    assert isinstance(allowed, Allowance)
    assert (allowed.answer_tokens, allowed.timeout_s) == (1000, 30.0)
    assert allowed.reserve == Spent(calls=1, tokens=2000, seconds=30.0)


@pytest.mark.parametrize(
    ("budget", "spent", "key"),
    [
        (BUDGET, Spent(calls=3), "model.calls"),
        (BUDGET, Spent(tokens=8001), "model.tokens"),
        (BUDGET, Spent(seconds=99.5), "model.seconds"),
        (PRICED, Spent(micros=8001), "model.money"),
    ],
)
def test_what_is_not_covered_names_its_setting(budget: Budget, spent: Spent, key: str) -> None:
    found = allow(budget, spent, chars=3000)
    assert isinstance(found, Exhausted)
    assert found.key == key


def test_at_its_edge_a_budget_still_covers() -> None:
    assert isinstance(allow(BUDGET, Spent(tokens=8000), chars=3000), Allowance)
    assert isinstance(allow(PRICED, Spent(micros=8000), chars=3000), Allowance)
    assert isinstance(allow(BUDGET, Spent(micros=10**9), chars=3000), Allowance)  # no price, no money


def test_prices_and_tokens_round_up() -> None:
    assert PRICED.price(1, 0) == 2
    assert PRICED.price(1000, 1000) == 12_000
    assert tokens_of(1) == 1
    assert tokens_of(3001) == 1001


def test_what_was_taken_is_told() -> None:
    spent = Spent(calls=2, tokens=1234, seconds=4.4, micros=12_345)
    assert told(BUDGET, spent) == "2 of 3 calls · 1234 of 10000 tokens · 4 of 100 s"
    assert told(PRICED, spent) == "2 of 3 calls · 1234 of 10000 tokens · 4 of 100 s · 0.0123 of 0.02"


def test_money_is_counted_in_millionths() -> None:
    assert micros("0.50") == 500_000
    assert [written(amount) for amount in (0, 10_000, 12_345, 1_000_000)] == [
        "0.00",
        "0.01",
        "0.0123",
        "1.00",
    ]
    assert least_money(["1.00", "0.5", "10"]) == "0.5"
