"""Slots of the library: a request's words into the one command that a document names.

What a value may look like, and how it is quoted, is `gate.supervise`'s; here a value that does not fit is an
error, since the planner looks only at values that do.
"""

from collections.abc import Mapping

from gate.supervise.binding import BindingError, Unbound, bind_command, placeholders
from gate.supervise.domain import InputSpec, InputType

__all__ = ["BindingError", "Input", "InputType", "bind", "placeholders"]

Input = InputSpec


def bind(template: str, values: Mapping[str, str], *, inputs: Mapping[str, Input]) -> str:
    """Return the command with every placeholder replaced by its quoted value.

    Raises:
        BindingError: the template is malformed, or an input is undeclared, missing, or its value unfit.
    """
    bound = bind_command(template, values, inputs=inputs)
    if isinstance(bound, Unbound):
        name = (*bound.missing, *bound.unfit)[0]
        raise BindingError(f"no usable value for {name}: {values.get(name)!r}")
    return bound.text
