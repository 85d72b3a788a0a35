"""Binding: what is shown masks, what runs holds, and no value ever becomes syntax (R7, R8, F47)."""

import shlex
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gate.supervise.binding import (
    BindingError,
    Bound,
    Unbound,
    as_text,
    bind_command,
    bind_text,
    command_digest,
    names,
    placeholders,
    render_command,
    render_text,
)
from gate.supervise.domain import InputSpec, InputType, Value
from tests.gate.supervise.runs import text

INPUTS = {
    one.name: one
    for one in (
        text("s"),
        text("n", type="integer"),
        text("t", type="text"),
        text("p", type="path"),
        text("u", type="url"),
        text("token", secret=True),
    )
}


def bound(template: str, **values: Value) -> str:
    made = bind_command(template, values, inputs=INPUTS)
    assert isinstance(made, Bound), made
    return made.text


@pytest.mark.parametrize(
    ("value", "said"), [(0, "0"), (False, "false"), (True, "true"), (None, ""), ("x", "x"), (12, "12")]
)
def test_zero_and_false_are_values(value: Value, said: str) -> None:
    assert as_text(value) == said


def test_zero_binds_and_null_does_not() -> None:
    assert bound("head -{{ inputs.n }}", n=0) == "head -0"
    for nothing in (None, ""):
        made = bind_command("x {{inputs.n}} {{ inputs.n }}", {"n": nothing}, inputs=INPUTS)
        assert made == Unbound(missing=("n",))


def test_everything_that_lacks_is_named_once() -> None:
    template = "x {{inputs.ghost}} {{inputs.s}} {{inputs.n}} {{inputs.ghost}}"
    made = bind_command(template, {"ghost": "v", "n": "x"}, inputs=INPUTS)
    assert made == Unbound(missing=("ghost", "s"), unfit=("n",))


def test_what_is_shown_masks_secrets_unknown_names_and_what_is_missing() -> None:
    template = "psql --token {{inputs.token}} {{inputs.s}} {{inputs.ghost}} {{inputs.n}}"
    values = {"token": "hunter2", "s": "a b", "ghost": "v"}
    assert render_command(template, values, inputs=INPUTS) == "psql --token *** 'a b' *** ***"
    assert render_text("on {{ inputs.s }} as {{ inputs.token }}", values, inputs=INPUTS) == "on a b as ***"
    unknown = "{{ inputs.ghost }} {{ inputs.n }} of {{ inputs.token }}"
    assert render_text(unknown, {}, inputs=INPUTS) == "*** <n> of ***"  # what is found later is no secret
    assert bound("psql --token {{inputs.token}}", token="hunter2") == "psql --token hunter2"


def test_text_that_is_no_command_holds_values_as_they_are() -> None:
    assert bind_text("/srv/{{ inputs.s }}", {"s": "a b"}, inputs=INPUTS) == Bound(text="/srv/a b")
    assert bind_text("/srv/{{ inputs.s }}", {}, inputs=INPUTS) == Unbound(missing=("s",))
    with pytest.raises(BindingError):
        bind_text("/srv/{{ inputs.s", {}, inputs=INPUTS)


def test_names_are_read_in_order() -> None:
    assert names("{{inputs.a}} {{ inputs.b }}{{inputs.a}}") == ("a", "b", "a")


@pytest.mark.parametrize(
    ("tool", "target", "command"), [("run", "web1", "true"), ("other", "web1", "id"), ("run", "web2", "id")]
)
def test_the_digest_covers_tool_target_and_command(tool: str, target: str, command: str) -> None:
    usual = command_digest(tool="run", target="web1", command="id")
    assert command_digest(tool=tool, target=target, command=command) != usual
    assert len(usual) == 64
    assert command_digest(tool="run", target="web1", command=None) != usual


# ---------------------------------------------------------------- where a placeholder may stand

STANDS = [
    "x {{ inputs.s }}",
    "x -{{inputs.s}} | head",
    "x /srv/{{inputs.s}}/{{inputs.s}}.txt\tmore",
    'x "a {{inputs.s}} b"',
    "x 'a {{inputs.s}}'",
    "x \"it's '{{inputs.s}}'\" {{inputs.s}}",
    "docker ps --format '{{.Names}}' --filter {{inputs.s}}",
    "x '$HOME' {{inputs.s}}",
    "x a#b {{inputs.s}}",
    "docker exec {{inputs.s}} sh -c 'ls /tmp'",
    "bash -c 'ls {{inputs.s}}'",
    "bash -c 'echo $1' -- {{inputs.s}}",
    "grep -c {{inputs.s}} x",
    "LEVEL={{inputs.s}} x",
    'LEVEL="{{inputs.s}}" x',
    "LEVEL=1 x {{inputs.s}}",
    "x > /srv/log {{inputs.s}}",
    "ssh web1 ls {{inputs.s}}",
    "bash -x /srv/a {{inputs.s}}",
    "bash -c 'cd /srv && ls {{inputs.s}}'",
]
FALLS = [
    "x $({{inputs.s}})",
    "x `{{inputs.s}}`",
    "x $Y {{inputs.s}}",
    'x "$Y" {{inputs.s}}',
    'x "$(id {{inputs.s}})"',
    "x \\{{inputs.s}}",
    'x "a\\" {{inputs.s}}"',
    "x {{inputs.s}};id",
    "x {{inputs.s}}&",
    "x {{inputs.s}}\nid",
    "x;{{inputs.s}}",
    "x {{inputs.s}}'a'",
    "x 'a'{{inputs.s}}",
    "x <<E {{inputs.s}}",
    "x # don't {{inputs.s}}",
    "# {{inputs.s}}",
    "(cd /srv && ls {{inputs.s}})",
    "{ ls {{inputs.s}}; }",
    "{{inputs.s}} -x",
    "x && {{inputs.s}}",
    "x | {{inputs.s}} -l",
    "if {{inputs.s}}",
    "x; then {{inputs.s}}",
    "! {{inputs.s}}",
    "bash -c {{inputs.s}}",
    "bash -lc {{inputs.s}}",
    "bash -c '{{inputs.s}} x'",
    "ssh web1 'cd /srv; {{inputs.s}}'",
    "eval {{inputs.s}}",
    'su -c "{{inputs.s}}" ana',
    '"{{inputs.s}}" -x',
    "x && '{{inputs.s}}' -x",
    "/usr/bin/{{inputs.s}} -x",
    '/usr/bin/"{{inputs.s}}" -x',
    "x; 'y'z'{{inputs.s}}'",
    "LEVEL=1 {{inputs.s}}",
    "LEVEL='1 2' MORE=3 {{inputs.s}}",
    ">/srv/log {{inputs.s}}",
    "x | 2> /srv/log {{inputs.s}}",
    "bash -cx {{inputs.s}}",
    "bash -c -- {{inputs.s}}",
    "bash -c ls{{inputs.s}}",
    "bash -c '/usr/bin/{{inputs.s}} x'",
    "rbash -c {{inputs.s}}",
    "runuser -c {{inputs.s}} ana",
    "watch {{inputs.s}}",
    "x {{inputs.s|upper}}",
    "x {{inputs.s}",
]


@pytest.mark.parametrize("template", STANDS)
def test_a_placeholder_may_stand_here(template: str) -> None:
    assert set(placeholders(template)) == {"s"}


@pytest.mark.parametrize("template", FALLS)
def test_a_placeholder_may_not_stand_here(template: str) -> None:
    with pytest.raises(BindingError):
        placeholders(template)


# ---------------------------------------------------------------- proven by executing

SHOW = "printf '%s\\0' "
HOSTILE = [
    "a b",
    "it's",
    'say "hi"',
    "$(touch /tmp/never)",
    "`id`",
    "$HOME",
    "a\nid",
    "a;id",
    "a|id",
    "a && id",
    ">x",
    "*",
    "~root",
    "{a,b}",
    "#x",
    "!x",
    "a\\",
    "grün",
    "a=b",
    "if",
]


def arguments(command: str) -> list[str]:
    """Return the arguments that bash hands to printf."""
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-c", command],
        capture_output=True,
        check=True,
        env={"LC_ALL": "C.UTF-8"},
    )
    return done.stdout.decode().split("\0")[:-1]


@pytest.mark.parametrize("value", HOSTILE)
def test_bash_gets_the_value_literally_or_nothing_runs(value: str) -> None:
    assert arguments(bound(SHOW + "-x {{ inputs.t }} end", t=value)) == ["-x", value, "end"]
    inside = bind_command(SHOW + "'{{ inputs.t }}' \"{{ inputs.t }}\"", {"t": value}, inputs=INPUTS)
    if isinstance(inside, Bound):
        assert arguments(inside.text) == [value, value]
    else:
        assert inside == Unbound(unfit=("t",))


@pytest.mark.parametrize("value", ["-rf", "--delete", "\n-rf", " -rf", "a\x00b", "a\x07b", "a\u200bb"])
def test_a_leading_dash_and_control_characters_are_refused(value: str) -> None:
    assert bind_command("rm {{ inputs.t }}", {"t": value}, inputs=INPUTS) == Unbound(unfit=("t",))


@pytest.mark.parametrize("value", ["a b", "a -rf", "a--b", "it's", "a;b"])
def test_inside_quotes_only_one_plain_word_stands(value: str) -> None:
    made = bind_command("psql -c \"select '{{ inputs.t }}'\"", {"t": value}, inputs=INPUTS)
    assert made == Unbound(unfit=("t",))


@pytest.mark.parametrize("value", ["a b", "a -rf", "a;b", "$(id)", "`id`", "a|b"])
@pytest.mark.parametrize(
    "template", ["eval ls {{ inputs.t }}", "ssh web1 ls {{ inputs.t }}", "watch ls {{ inputs.t }}"]
)
def test_of_what_is_put_together_and_read_again_a_value_is_one_plain_word(template: str, value: str) -> None:
    assert bind_command(template, {"t": value}, inputs=INPUTS) == Unbound(unfit=("t",))
    assert bound(template, t="a").endswith("ls a")


@pytest.mark.parametrize(
    ("template", "value"),
    [
        ("sed -i s/old/{{ inputs.t }}/ /srv/f", "x/;1e touch never;#"),
        ("cd /srv && sed -n -e 's/a;b/c/' -e s/old/{{ inputs.t }}/ f", "x/;1e id;#"),
        ("x | sed {{ inputs.t }}", "1e id"),
        ("sed s=old={{ inputs.t }}= f", "x=;1e id;#"),
        ("gawk -f f {{ inputs.t }}", 'BEGIN{system("id")}'),
        ("perl -pe {{ inputs.t }} f", "system 'id'"),
        ("python3 -c {{ inputs.t }}", "import os; os.system('id')"),
        ("node -e x={{ inputs.t }}", "1; process.exit()"),
    ],
)
def test_in_a_script_of_another_program_a_value_is_one_plain_word(template: str, value: str) -> None:
    assert bind_command(template, {"t": value}, inputs=INPUTS) == Unbound(unfit=("t",))
    assert "plain" in bound(template, t="plain")


@pytest.mark.parametrize(
    "template",
    [
        "python3 -c 'import sys; print(sys.argv[1])' {{ inputs.t }}",
        "perl tell.pl {{ inputs.t }}",
        "sed -n 1p /srv/f; logger {{ inputs.t }}",
        "sed -n 's/a;b/c/p' /srv/f | mail -s {{ inputs.t }} ana",
        "awk -v name={{ inputs.t }} -f /srv/count.awk /srv/f",
        "grep -e {{ inputs.t }} /srv/f",
    ],
)
def test_beside_the_script_of_a_program_a_value_is_any_argument(template: str) -> None:
    assert "'a b;c'" in bound(template, t="a b;c")


def test_what_another_shell_reads_again_is_still_one_argument() -> None:
    made = bound("bash -c \"printf '%s|' {{ inputs.p }} end\"", p="/srv/a")
    assert subprocess.run(["bash", "-c", made], capture_output=True, check=True).stdout == b"/srv/a|end|"


PLACES = [
    ("{{ inputs.v }}", lambda value: [value]),
    ("a{{ inputs.v }}b", lambda value: [f"a{value}b"]),
    ("'x {{ inputs.v }}'", lambda value: [f"x {value}"]),
    ('"x {{ inputs.v }}" y', lambda value: [f"x {value}", "y"]),
    ("\"it's '{{ inputs.v }}'\"", lambda value: [f"it's '{value}'"]),
    ("{{ inputs.v }}{{ inputs.v }} '{{ inputs.v }}'", lambda value: [value + value, value]),
]


@settings(max_examples=300, deadline=None)
@given(
    kind=st.sampled_from(InputType),
    place=st.sampled_from(PLACES),
    value=st.one_of(
        st.text(max_size=12),
        st.text(alphabet="ab -;$`'\"\\/.=&|<>(){}*?~#!\n", max_size=12),
        st.from_regex(r"https?://[a-z.]{1,9}/[a-z?&=/-]{0,9}", fullmatch=True),
        st.from_regex(r"[a-z0-9/][a-z0-9 ./:@+=,-]{0,12}", fullmatch=True),
    ),
)
def test_no_value_of_any_type_becomes_syntax(kind: InputType, place: tuple, value: str) -> None:
    template, expected = place
    inputs = {"v": InputSpec(name="v", type=kind)}
    made = bind_command(f"cmd {template} end", {"v": value}, inputs=inputs)
    if isinstance(made, Bound):
        assert shlex.split(made.text) == ["cmd", *expected(value), "end"]
    else:
        assert made.missing or made.unfit
