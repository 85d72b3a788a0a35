import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.planning.binding import BindingError, Input, InputType, bind, placeholders

INPUTS = {kind.value: Input(name=kind.value, type=kind) for kind in InputType}


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("service", "caddy"),
        ("service", "getty@tty1.service"),
        ("name", "libc6-dev"),
        ("path", "/var/log"),
        ("path", "/"),
        ("host", "example.org"),
        ("host", "2001:db8::1"),
        ("integer", "0"),
        ("integer", "999999"),
        ("string", "connection refused"),
    ],
)
def test_ordinary_value_is_accepted(kind: str, value: str) -> None:
    assert INPUTS[kind].accepts(value)


HOSTILE = (
    "",
    "-f",
    "--now",
    "a;b",
    "a b;c",
    "$(id)",
    "`id`",
    "a|b",
    "a&b",
    "a>b",
    "a\nb",
    "a\x00b",
    "a'b",
    'a"b',
    "a\\b",
)
HOSTILE += ("*", "?", "~", "~root", "{a,b}", "#x", "!x", "é", "a\u200bb", "a\u00a0b", "a" * 5000, "caddy\n")


@pytest.mark.parametrize("kind", [kind.value for kind in InputType if kind is not InputType.TEXT])
@pytest.mark.parametrize("value", HOSTILE)
def test_value_that_could_become_syntax_is_refused(kind: str, value: str) -> None:
    assert not INPUTS[kind].accepts(value)


@pytest.mark.parametrize(
    ("kind", "value"), [("path", "etc"), ("integer", "01"), ("integer", "1000000"), ("integer", "1.5")]
)
def test_value_of_another_form_is_refused(kind: str, value: str) -> None:
    assert not INPUTS[kind].accepts(value)


def test_enum_narrows() -> None:
    item = Input(name="x", enum=("a", "b"))
    assert item.accepts("a")
    assert not item.accepts("c")


@given(kind=st.sampled_from(list(InputType)), value=st.text(max_size=40))
def test_bound_value_is_exactly_one_word(kind: InputType, value: str) -> None:
    template = f"cmd -x {{{{ inputs.{kind.value} }}}} end"
    if INPUTS[kind].accepts(value):
        assert shlex.split(bind(template, {kind.value: value}, inputs=INPUTS)) == ["cmd", "-x", value, "end"]
    else:
        with pytest.raises(BindingError):
            bind(template, {kind.value: value}, inputs=INPUTS)


def test_spaces_are_quoted() -> None:
    bound = bind(
        "grep -e {{ inputs.string }} {{inputs.path}}", {"string": "a b", "path": "/x"}, inputs=INPUTS
    )
    assert bound == "grep -e 'a b' /x"


@pytest.mark.parametrize(
    "template",
    [
        "echo 'x {{ inputs.name }}' $X {{ inputs.name }}",
        'echo "$X {{ inputs.name }}"',
        "{{ inputs.name }} -x",
        "echo $({{ inputs.name }})",
        "echo `{{ inputs.name }}`",
        "echo ${ {{ inputs.name }} }",
        "echo $X {{ inputs.name }}",
        "echo a\\ {{ inputs.name }}",
        "echo {{ inputs.name }};id",
        "echo {{ inputs.name }}'x'",
        "echo 'x'{{ inputs.name }}",
        "cat <<E {{ inputs.name }}",
        "echo {{ inputs.na me }}",
        "echo {{ inputs.name }",
        "echo {{inputs.name|upper}}",
    ],
)
def test_placeholder_outside_a_plain_word_is_refused(template: str) -> None:
    with pytest.raises(BindingError):
        placeholders(template)


def test_placeholders_are_named_in_order() -> None:
    assert placeholders("a {{ inputs.x }} :{{inputs.y}} --format '{{.Names}}'") == ("x", "y")


@pytest.mark.parametrize("values", [{}, {"name": ""}, {"name": "-x"}])
def test_missing_or_bad_value_is_an_error(values: dict[str, str]) -> None:
    with pytest.raises(BindingError):
        bind("a {{ inputs.name }}", values, inputs=INPUTS)


def test_undeclared_input_is_an_error() -> None:
    with pytest.raises(BindingError):
        bind("a {{ inputs.ghost }}", {"ghost": "x"}, inputs=INPUTS)
