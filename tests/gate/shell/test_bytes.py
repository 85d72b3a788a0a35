"""Characters and sizes that a person cannot read are no plain command."""

import pytest

from gate.shell.bytes import MAX_CHARS, is_hidden, objection, without_hidden


@pytest.mark.parametrize(
    "char",
    [
        "\0",
        "\r",
        "\x1b",
        "\x7f",
        "\x85",
        "\xa0",
        "\u200b",
        "\u202e",
        "\u2028",
        "\ufeff",
        "\u3164",
        "\ud800",
        "\u0301",
        "\ue000",
    ],
)
def test_hidden_characters_are_an_objection(char: str) -> None:
    assert is_hidden(char)
    reason = objection(f"ls{char} -la")
    assert reason is not None
    assert f"{ord(char):04X}" in reason


@pytest.mark.parametrize("text", ["ls -la", "ls\n\tpwd", "grep 'größe' f", "echo '日本'"])
def test_readable_text_is_none(text: str) -> None:
    assert objection(text) is None


def test_longer_than_a_person_reads() -> None:
    assert objection("a" * MAX_CHARS) is None
    assert objection("a" * (MAX_CHARS + 1)) is not None


def test_hidden_characters_do_not_hide_what_is_behind_them() -> None:
    assert without_hidden("r\u200bm\r-rf") == "rm\n-rf"
