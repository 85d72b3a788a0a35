"""Text: what cannot be seen is written out, everything else stays."""

import pytest

from bot.text import Text, block, code, visible


@pytest.mark.parametrize(
    "char",
    [
        *(
            "\x1b",
            "\r",
            "\u200b",
            "\u202e",
            "\u2028",
            "\ufeff",
            "\u034f",
            "\u115f",
            "\u1160",
            "\u17b4",
            "\u17b5",
        ),
        *("\u180b", "\u180e", "\u180f", "\u3164", "\uffa0", "\ufe00", "\ufe0f", "\U000e0100", "\U000e01ef"),
        *("\U000e0041", "\xa0", "\u2009", "\u202f", "\u3000", "\u1680", "\u2800", "\u2065", "\xad"),
    ],
)
def test_what_looks_like_nothing_is_written_out(char: str) -> None:
    assert visible(f"rm{char}x") == f"rm\\u{{{ord(char):x}}}x"


@pytest.mark.parametrize("text", ["df -h\n\tx", "größe 名前 ✓ ◔ → …", "e\u0301", "😀", ""])
def test_what_is_seen_stays(text: str) -> None:
    assert visible(text) == text


def test_every_style_of_span_is_made_visible() -> None:
    assert Text.of(block("a\u3164b"), [code("c\xa0d")]).plain() == "a\\u{3164}b\nc\\u{a0}d"
