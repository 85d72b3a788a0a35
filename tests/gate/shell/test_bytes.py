"""Characters and sizes that a person cannot read are no plain command."""

import subprocess
import sys

import pytest

from gate.domain import Risk
from gate.shell.bytes import MAX_CHARS, is_hidden, objection, without_hidden
from gate.shell.classify import classify
from gate.shell.model import Rules
from gate.shell.parse import grammar_tree


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


FARTHEST = """
from gate.shell.parse import grammar_tree
for number in range(0x80, 0x110000, 0x1000):
    if not 0xD800 <= number < 0xE000:
        for opener in ("{", "${", "<<", "[[ a =~ ", "x=", "$(( "):
            text = f"{opener}{chr(number)} é"
            assert grammar_tree(text).root.source == text
"""


@pytest.mark.parametrize("locale", ["C", "C.UTF-8"])
def test_no_character_ends_the_process(locale: str) -> None:
    """In a process of its own: the grammar's table of bytes once took it down."""
    done = subprocess.run(
        [sys.executable, "-c", FARTHEST], check=False, capture_output=True, env={"LC_ALL": locale}
    )
    assert (done.returncode, done.stderr) == (0, b"")


def test_foreign_letters_are_parts_of_words(rules: Rules) -> None:
    words = [node.text for node in grammar_tree("grep 'naïve' 日誌; é=1 x").root.children[0].children]
    assert words == ["grep", "'naïve'", "日誌"]
    assert classify("grep -c 'größe 😀' /var/log/syslog", rules=rules).auto_run
    assert classify("echo é; rm -rf /srv/日誌", rules=rules).risk is Risk.DESTRUCTIVE
