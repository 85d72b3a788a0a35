"""Outputs: what many printed, as few lines, and nothing of it as anything but text."""

from datetime import UTC

import pytest

from bot.fanout.look import Look
from bot.fanout.outputs import IN_DETAILS, ON_CARD, Bounds, Printed, printed
from bot.text import Style, Text
from ledger.views import ActionView
from tests.bot.fanout.scenes import ended, hosts, view
from tests.gate.makers import NOW


def each(*outputs: str) -> list[ActionView]:
    names = hosts(len(outputs))
    return [
        ended(view(name, index), output=text)
        for index, (name, text) in enumerate(zip(names, outputs, strict=True), 1)
    ]


def of(*outputs: str, bounds: Bounds = ON_CARD) -> Printed:
    look = Look(now=NOW, zone=UTC, secrets=("tr0ub4dor",))
    return printed(each(*outputs), look, where="in output.txt", bounds=bounds)


def lines(*outputs: str) -> list[str]:
    return Text.of(*of(*outputs).lines).plain().splitlines()


def test_nothing_printed_is_nothing_said() -> None:
    assert of("", "\n", "  ") == Printed(lines=[], whole=True)


def test_all_agree() -> None:
    assert lines(*["nginx/1.24\n"] * 12) == ["12 hosts agree:", "nginx/1.24"]
    assert of(*["nginx/1.24\n"] * 12).whole


def test_most_agree_and_the_others_differ_in_this() -> None:
    usual, other = "a\nversion 1.24\n", "a\nversion 1.22\n"
    assert lines(*[usual] * 9, other, usual, usual) == [
        "11 hosts agree:",
        "a",
        "version 1.24",
        "web10 differs:",
        "- version 1.24",
        "+ version 1.22",
    ]
    assert not of(*[usual] * 9, other).whole


def test_others_that_agree_with_each_other_are_told_together() -> None:
    shown = lines(*["a"] * 6, "b", "b", "")
    assert shown == [
        "6 hosts agree:",
        "a",
        "web7, web8 differ:",
        "- a",
        "+ b",
        "web9 differs: nothing printed",
    ]


def test_three_others_are_told_and_the_rest_counted() -> None:
    shown = lines(*["a"] * 9, *"bcdef")
    assert shown[-1] == "… 2 more differ, in output.txt"
    assert sum(line.endswith("differs:") for line in shown) == 3


def test_where_most_print_nothing_the_others_stand_whole() -> None:
    assert lines("", "", "", "warning\n") == ["3 hosts print nothing", "web4:", "warning"]
    assert of("", "", "", "warning\n").whole


def test_where_all_differ_each_has_a_line_with_its_name_in_a_column() -> None:
    shown = lines(*[f" 14:02  up {number} days\n" for number in range(1, 16)])
    assert shown[0] == "web1   14:02  up 1 days"
    assert shown[11] == "web12  14:02  up 12 days"
    assert shown[12:] == ["… 3 more, in output.txt"]


def test_the_line_of_each_is_the_one_that_tells_and_says_what_it_leaves_out() -> None:
    shown = lines(*[f"Filesystem Size\n/dev/sda1 {number}G\n/dev/sdb1 3G\n" for number in range(1, 13)])
    assert shown[0] == "web1   /dev/sda1 1G (+2)"
    assert not of(*[f"Filesystem\n/dev/sda1 {number}G\n" for number in range(20)]).whole


def test_few_that_all_differ_stand_whole() -> None:
    assert lines("a\nb\n", "a\nc\n") == ["web1:", "a", "b", "web2:", "a", "c"]
    assert lines("a\nb\n", "") == ["web1:", "a", "b", "web2:", "nothing printed"]
    assert of("a\nb\n", "a\nc\n").whole


def test_kinds_of_answers_are_counted_where_their_names_are_cut() -> None:
    shown = lines(*[f"6.{number % 3}.0" for number in range(30)])
    assert shown[0] == "web1 … web28 (10)  6.0.0"
    assert len(shown) == 3


@pytest.mark.parametrize("bounds", [ON_CARD, IN_DETAILS])
@pytest.mark.parametrize(
    "outputs",
    [
        ["line\n" * 20_000] * 5,
        ["w" * 200_000] * 5,
        [*["line\n" * 20_000] * 5, "other\n" * 20_000],
        [f"{number}\n" + "line\n" * 20_000 for number in range(60)],
        [f"{number}" + "w" * 200_000 for number in range(60)],
        ["", "", *[f"{number}\n" * 5_000 for number in range(3)], "", ""],
    ],
)
def test_a_flood_stays_within_its_bounds_and_says_so(outputs: list[str], bounds: Bounds) -> None:
    found = of(*outputs, bounds=bounds)
    assert not found.whole
    assert len(Text.of(*found.lines).plain()) < (2_500 if bounds is ON_CARD else 12_000)


def test_what_is_cut_says_how_much() -> None:
    assert lines(*["line\n" * 30] * 4)[-1] == "… 18 more lines"


def test_secrets_are_masked() -> None:
    for outputs in (
        ["password=hunter2 tr0ub4dor"] * 4,
        [*["ok"] * 4, "password=hunter2 tr0ub4dor"],
        [f"{number} password=hunter2 tr0ub4dor" for number in range(4)],
    ):
        shown = "\n".join(lines(*outputs))
        assert "password=*** ***" in shown
        assert "hunter2" not in shown


def test_output_is_shown_as_it_is_and_never_as_markup() -> None:
    odd = "*bold* _it_ `code` <b>&amp; [x](y) @everyone"
    for outputs in ([odd] * 4, [*["ok"] * 4, odd], [f"{odd} {number}" for number in range(4)]):
        found = Text.of(*of(*outputs).lines)
        holding = [span for line in found.lines for span in line if odd in span.text]
        assert holding
        assert all(span.style is Style.BLOCK for span in holding)
    assert "a\\u{202e}b" in "\n".join(lines(*["a\u202eb"] * 4))
