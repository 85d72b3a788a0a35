"""The tools of a model: one alone asks for changes, and none decides or touches policy (N5)."""

from dataclasses import replace

import pytest

from bot.planning.model.tools import BY_NAME, TOOLS, Kind, Tool, ToolsError, check
from gate.effects import PROFILES
from gate.resolve.decision import Act

RUN = BY_NAME["run"]
#: What no tool of a model may do.
FORBIDDEN = (Act.CONFIG_CHANGE, Act.SET_TRUST, Act.SET_GUIDANCE, Act.PROMOTE_RUNBOOK, Act.CANCEL_JOB)


def test_one_tool_alone_asks_for_commands() -> None:
    assert [one.name for one in TOOLS if one.kind is Kind.RUN] == ["run"]
    assert [one.name for one in TOOLS if PROFILES[one.name].act is Act.EXEC] == ["run", "start_runbook"]


def test_no_tool_decides_or_touches_policy() -> None:
    assert not {PROFILES[one.name].act for one in TOOLS} & set(FORBIDDEN)
    names = " ".join(one.name for one in TOOLS)
    for word in ("approve", "deny", "settle", "resume", "pair", "trust", "config", "guidance"):
        assert word not in names


@pytest.mark.parametrize(
    "more",
    [
        RUN,  # twice
        replace(RUN, name="shell_exec"),  # a second one that asks for changes
        replace(RUN, name="no_such_tool"),
        replace(RUN, name="config_set", kind=Kind.OFFER),
        replace(RUN, name="trust", kind=Kind.OFFER),
        replace(RUN, name="file_write", kind=Kind.OFFER),
        replace(RUN, name="send", kind=Kind.LOOK),  # says that it only looks
        replace(RUN, name="status", kind=Kind.OFFER),
        replace(RUN, name="revise", kind=Kind.RUN),
    ],
    ids=lambda one: f"{one.name} {one.kind}",
)
def test_a_table_that_breaks_the_rules_does_not_load(more: Tool) -> None:
    with pytest.raises(ToolsError):
        check([*TOOLS, more])


def test_what_a_tool_takes_is_said_in_its_schema() -> None:
    for one in TOOLS:
        assert set(one.required) <= set(one.known)
        assert one.schema["additionalProperties"] is False
