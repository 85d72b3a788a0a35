"""Whatever is typed: nothing raises, no change slips in, quoting does not matter, time is bounded.

Mutators are put at every position, not at some; tests/fuzz does the same with a coverage-guided fuzzer.
"""

import time
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gate.domain import Risk, Verdict
from gate.shell.classify import classify, without_sudo
from gate.shell.parse import MAX_CHARS
from tests.gate.shell.test_properties import RULES, shellish

#: Without quotes or comments: wherever something is put into these, bash takes it for what it is.
UNQUOTED = [
    "uptime",
    "cat /srv/x | grep -i y | wc -l",
    "systemctl status caddy && docker ps -a 2>/dev/null",
    "find /var/log -name \\*.gz -mtime +7",
    "diff <(ls /etc) <(ls /srv)",
    "for i in a b; do stat /srv/$i; done",
]
#: In double quotes bash still computes.
QUOTED = ['grep "a b" /etc/hosts', 'echo "a" "b c"']
COMPUTED = ["$(touch x)", "`touch x`", "${x:=y}", "$((x=1))", "$(<x)", '"$(touch x)"', "$[x=1]"]
JOINTS = [("; ", " ;"), ("\n", "\n"), (" & ", " & "), (" && ", " && "), (" || ", " || "), (" | ", " | ")]
CHANGERS = ["rm -rf /srv", "X=1", "sh", "tee x", "frobnicate"]
MUTATORS = [
    *COMPUTED,
    *[f"{before}touch x{after}" for before, after in JOINTS],
    *[f"; {changer} ;" for changer in CHANGERS],
    *[
        f" {operator} f "
        for operator in (">", ">>", "2>", "&>", ">|", "<>", ">&", "> /dev/sda", "> /dev/null >")
    ],
    *[" <<E\n$(touch x)\nE\n", " <<< $(touch x) ", " <(touch x) ", " >(tee x) ", " & ", "\n&\n"],
    *[" ; { touch x; } ; ", " ; (touch x) ; ", " ; if touch x; then ls; fi ; ", " ; f() { touch x; } ; "],
    *["\0", "\r", "\u202e", "\u200b", "\x1b", "\ud800"],
]


def judged(line: str) -> Verdict:
    return classify(line, rules=RULES)


# -- nothing raises

OPENERS = [
    "(",
    "$(",
    "`",
    "{ ",
    "[[ ",
    "((",
    "$((",
    "<(",
    '"$(',
    "${x:-",
    "if ",
    "while ",
    "case x in ",
    "f() { ",
]
OPENERS += [
    "! ",
    "sudo ",
    "eval ",
    "sh -c ",
    "xargs ",
    "find . -exec ",
    "ssh h ",
    "<<E\n",
    "&",
    "\\",
    "'",
    "{a,b}",
    "*",
]
nested = st.tuples(
    st.sampled_from(OPENERS),
    st.integers(1, 2_500),
    st.sampled_from(["", "ls", "rm -rf /", ")", "'", "\n"]),
).map(lambda parts: parts[0] * parts[1] + parts[2])
anything = st.one_of(
    st.text(max_size=200),
    st.text(alphabet=st.characters(categories=["Cs", "Cc", "Cf", "Zs", "Zl", "Zp", "Mn", "Lo"]), max_size=60),
    st.text(alphabet="|&;<>(){}[]$`\"'\\ \n\t*?~#!=-ax1", max_size=120),
    st.binary(max_size=120).map(lambda raw: raw.decode("utf-8", "surrogateescape")),
    shellish,
    nested,
)


@given(anything, st.sampled_from([None, "read_only", "destructive", "\ud800"]))
@settings(max_examples=400, deadline=None)
def test_nothing_raises(text: str, declared: str | None) -> None:
    verdict = classify(text, rules=RULES, declared_risk=declared, become=True, as_root=True)
    assert verdict.reasons
    assert not verdict.auto_run or verdict.risk is Risk.READ_ONLY
    without_sudo(f"sudo {text}", RULES)


# -- nothing that changes things slips in


@pytest.mark.parametrize("line", UNQUOTED)
def test_a_mutator_at_any_position_stops_it(line: str) -> None:
    assert judged(line).auto_run
    changed = [line[:at] + mutator + line[at:] for at in range(len(line) + 1) for mutator in MUTATORS]
    assert [one for one in changed if judged(one).auto_run] == []


@pytest.mark.parametrize("line", QUOTED)
def test_a_computed_mutator_at_any_position_in_double_quotes_stops_it(line: str) -> None:
    assert judged(line).auto_run
    changed = [
        line[:at] + mutator + line[at:]
        for at in range(len(line) + 1)
        for mutator in COMPUTED
        if '"' not in mutator
    ]
    assert [one for one in changed if judged(one).auto_run] == []


@given(
    st.sampled_from(UNQUOTED),
    st.lists(st.tuples(st.integers(0, 80), st.sampled_from(MUTATORS)), min_size=2, max_size=4),
)
@settings(max_examples=150, deadline=None)
def test_several_mutators_do_not_hide_one_another(line: str, mutators: list[tuple[int, str]]) -> None:
    for at, mutator in mutators:
        line = line[:at] + mutator + line[at:]
    assert not judged(line).auto_run


@pytest.mark.parametrize(
    "line",
    [
        "find . {} -delete",
        "find . -name x {} -exec rm -rf x +",
        "sort f {} -o f",
        "ls {} | xargs rm",
        "tail {} f -f",
    ],
)
@pytest.mark.parametrize(
    "redirect", ["</etc/hosts", "< /etc/hosts", "2>/dev/null", ">/dev/null", "2>&1", "<<E"]
)
def test_words_behind_a_redirection_belong_to_the_command(line: str, redirect: str) -> None:
    text = line.format(redirect) + ("\nE" if redirect == "<<E" else "")
    plain = judged(line.format(""))
    assert not judged(text).auto_run
    assert judged(text).risk.at_least(plain.risk)


# -- quoting does not matter

QUOTINGS: Sequence[Callable[[str], str]] = [
    lambda word: f"'{word}'",
    lambda word: f'"{word}"',
    lambda word: f"$'{word}'",
    lambda word: "".join(f"\\{char}" for char in word),
    lambda word: f"{word[:1]}''{word[1:]}",
    lambda word: f'{word[:1]}""{word[1:]}',
    lambda word: f"{word}''",
    lambda word: f"''{word}",
    lambda word: f"'{word[: len(word) // 2]}'\"{word[len(word) // 2 :]}\"",
    lambda word: f"{word[:-1]}\\{word[-1:]}",
    lambda word: f"{word[:1]}$'{word[1:]}'",
    lambda word: "".join(f"'{char}'" for char in word),
]
#: Of words that bash leaves alone: quoting these changes nothing but their looks.
PLAIN = [
    example.command
    for example in RULES.examples
    if not set(example.command)
    - set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 ./:,+@%_-")
]


def essence(verdict: Verdict) -> tuple[object, ...]:
    return (
        verdict.risk,
        verdict.auto_run,
        verdict.never,
        verdict.deed,
        verdict.touches,
        verdict.reads_secrets,
    )


def test_there_are_plain_examples_of_every_class() -> None:
    assert {judged(command).risk for command in PLAIN} == set(Risk)


@pytest.mark.parametrize("quoting", QUOTINGS)
def test_every_example_quoted_one_way_is_judged_the_same(quoting: Callable[[str], str]) -> None:
    lines = {command: " ".join(map(quoting, command.split())) for command in PLAIN}
    assert [line for plain, line in lines.items() if essence(judged(plain)) != essence(judged(line))] == []


@given(st.sampled_from(PLAIN), st.data())
@settings(max_examples=200, deadline=None)
def test_words_quoted_each_in_its_own_way_are_judged_the_same(command: str, data: st.DataObject) -> None:
    ways = st.sampled_from([*QUOTINGS, str])
    line = " ".join(data.draw(ways)(word) for word in command.split())
    assert essence(judged(command)) == essence(judged(line)), line


# -- time is bounded

UNITS = [
    "true; ",
    "ls | ",
    "ls && ",
    "ls\n",
    "(",
    "$(",
    "`",
    "'",
    '"',
    "'a' ",
    '"$x"',
    "{a,b}",
    "\\",
    "<a ",
    "> x ",
    "a?",
    "?x ",
    "))",
]
UNITS += [
    "if true; then ",
    "f() { f | f & }; ",
    "sudo ",
    "eval ",
    "sh -c 'ls'; ",
    "echo ls | sh; ",
    "bash <(",
    "find . -exec ",
    "../",
]
UNITS += [
    "é ",
    "X=1 ",
    "-x ",
    "--a ",
    "*",
    "a=b ",
    "password_",
    "x=$${",
    "~|",
    ")a",
    "||{",
    "ssh h ",
    "\u200b",
    "select 1;",
]


@pytest.mark.parametrize("size", [MAX_CHARS, 9_990])
def test_no_line_takes_long(size: int) -> None:
    """Generous for slow machines, and others' work does not count: the slowest takes 0.1 s."""
    for unit in UNITS:
        line = (unit * size)[:size]
        before = time.process_time()
        verdict = judged(line)
        assert time.process_time() - before < 3, unit
        assert verdict.reasons


def test_a_thousand_parts_are_judged_as_such() -> None:
    assert judged("rm -rf /srv; " * 1_000).risk is Risk.DESTRUCTIVE
    for joint in ("; ", " | ", " && ", "\n", " || "):
        verdict = judged(joint.join(["uptime"] * 1_000))
        assert not verdict.auto_run


def test_loops_in_loops_end() -> None:
    values = " ".join("abcdefghijklmnopqrstuvwxyz")
    heads = "".join(f"for {name} in {values}; do " for name in "abcdef")
    for body in ("> /dev/null", "uptime", "[ -f x ]"):
        assert not judged(f"{heads}{body}{'; done' * 6}").auto_run
    deep = "".join(f"for a{number} in x; do " for number in range(40))
    assert not judged(f"{deep}uptime{'; done' * 40}").auto_run
