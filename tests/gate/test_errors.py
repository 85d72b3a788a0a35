"""Errors of the gate say what to do next by themselves."""

import pytest

from gate.errors import GateError, RuleError, TransitionError


@pytest.mark.parametrize("kind", [GateError, RuleError, TransitionError])
def test_without_words_an_error_says_its_docstring(kind: type[GateError]) -> None:
    assert str(kind()) == (kind.__doc__ or "").splitlines()[0]
    assert ";" in str(kind())


def test_words_replace_the_docstring() -> None:
    assert str(RuleError("rules/x.toml: no verb")) == "rules/x.toml: no verb"


def test_an_error_without_a_docstring_is_still_an_error() -> None:
    class BareError(GateError):
        __doc__ = None

    assert issubclass(BareError, GateError)
    assert BareError("x").args == ("x",)


def test_the_family() -> None:
    assert issubclass(RuleError, GateError)
    assert issubclass(TransitionError, GateError)
