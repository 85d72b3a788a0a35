"""One word at a time: what bash would pass on, and when that is certain."""

import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.shell.words import UNKNOWN, decode, expand_braces


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("plain-word_1.2/3", "plain-word_1.2/3"),
        ("'a b'", "a b"),
        ('"a b"', "a b"),
        ("a'b'\"c\"d", "abcd"),
        (r"\-delete", "-delete"),
        ("-del''ete", "-delete"),
        ('"a\\"b\\$\\`\\\\"', 'a"b$`\\'),
        (r'"a\nb"', r"a\nb"),
        (r"$'a\nb\'\"\\\t'", "a\nb'\"\\\t"),
        ('"cost: 5$"', "cost: 5$"),
        ('"a $ b"', "a $ b"),
        ("{}", "{}"),
        ("!", "!"),
        ("a!=b", "a!=b"),
        ("'größe'", "größe"),
        ("a#b", "a#b"),
        ("HEAD^", "HEAD^"),
    ],
)
def test_certain_words(raw: str, text: str) -> None:
    word = decode(raw)
    assert (word.text, word.certain, word.glob) == (text, True, False)


@pytest.mark.parametrize(
    "raw",
    [
        "$HOME",
        "${x}",
        '"$x"',
        "$(id)",
        '"$(id)"',
        "`id`",
        '"`id`"',
        "$'\\x41'",
        "$'\\e'",
        '$"a"',
        "{a,b}",
        "[ab]",
        "~root",
        "a~",
        "!x",
        "!!",
        "größe",
        "\\\n",
        "a\\\nb",
        '"a\\\nb"',
        "'open",
        '"open',
        "$'open",
        "#x",
        "\\",
        "$[1]",
        "$",
        "\\é",
        "a{",
        "}",
    ],
)
def test_uncertain_words(raw: str) -> None:
    assert not decode(raw).certain


def test_globs_and_home_are_marked() -> None:
    assert decode("*.log").glob
    assert decode("a?").glob
    assert not decode("'*'").glob
    assert decode("~/x").home
    assert decode("~").home
    assert decode("~/x").certain


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("$X", "rm"),
        ("${X}", "rm"),
        ('"$X"', "rm"),
        ("${Y:-ls}", "ls"),
        ("${Y-ls}", "ls"),
        ("${X:+cat}", "cat"),
        ("$Y", UNKNOWN),
        ("$HOME/x", "~/x"),
        ("a$(id)b", f"a{UNKNOWN}b"),
        ("$(echo $(id))", UNKNOWN),
        ("$(open", UNKNOWN),
        ("`open", UNKNOWN),
        (r"$'\x72\155\u0041\U00000042\e\?'", "rmAB\x1b?"),
        ("$'\\UFFFFFFFF'", "\U0010ffff"),
        ("$@", f"{UNKNOWN}@"),
    ],
)
def test_guesses_for_severity(raw: str, text: str) -> None:
    assert decode(raw, variables={"X": "rm"}).text == text


def test_braces_become_words() -> None:
    assert expand_braces("a{b,c}d{e,f}") == ["abde", "abdf", "acde", "acdf"]
    assert expand_braces("plain") == ["plain"]
    assert expand_braces("'{a,b}'") == ["'{a,b}'"]
    assert len(expand_braces("{a,b}" * 12)) >= 32


@given(st.text(max_size=40))
def test_never_raises(raw: str) -> None:
    decode(raw)
    decode(raw, variables={})


def test_certain_words_are_what_bash_passes_on() -> None:
    raws = [
        "'a'\"b\"c",
        r"\-x",
        "$'a\\tb'",
        '"a\\"b"',
        "a''b",
        r"a\ b",
        "a!=b",
        "'!'",
        '"!x"',
        "x#y",
        "a@b%c+d,e:f=g^h",
        r"\*",
        "'~'",
        "{}",
        '"a\\b"',
        '"5$"',
        r"\#",
        r"\~",
    ]
    script = "\n".join(f"printf '%s\\0' {raw}" for raw in raws)
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-c", script],
        capture_output=True,
        text=True,
        check=True,
        timeout=20,
    )
    words = [decode(raw) for raw in raws]
    assert all(word.certain for word in words)
    assert done.stdout.split("\0")[:-1] == [word.text for word in words]
