"""The tools of a model: their names, what they take, and the guard that keeps the list small (N5).

Each is a tool of `gate.effects`, which says what it is; calling one only ever proposes, looks or offers. The
rules it owns: one tool alone asks for changes on a target, and none decides, settles, resumes or touches
policy, settings, guidance or trust. A table that breaks them does not load.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from gate.effects import PROFILES
from gate.resolve.decision import Act


class Kind(StrEnum):
    """What becomes of a call."""

    RUN = "run"  # a command, proposed
    RUNBOOK = "runbook"  # a document of the library, proposed step by step
    LOOK = "look"  # answered at once from what sayso knows
    OFFER = "offer"  # put to the person as a button; a press is as if they had typed it


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One tool.

    Attributes:
        about: what the model is told of it.
        schema: what it takes, as JSON Schema of an object.
    """

    name: str
    kind: Kind
    about: str
    schema: Mapping[str, object]

    @property
    def required(self) -> tuple[str, ...]:
        """The arguments that it cannot do without."""
        found = self.schema.get("required", ())
        return tuple(map(str, found)) if isinstance(found, list | tuple) else ()

    @property
    def known(self) -> tuple[str, ...]:
        """The arguments that it takes."""
        found = self.schema["properties"]
        return tuple(map(str, found)) if isinstance(found, Mapping) else ()


class ToolsError(Exception):
    """The tools of the model break their own rules; report this as a bug."""


#: Acts that a model may be given a tool for.
_ALLOWED = frozenset(
    {Act.EXEC, Act.REMIND, Act.SCHEDULE, Act.STORE_FACT, Act.SEND_OUTBOUND},
)
_TEXT = {"type": "string"}


def _takes(required: str, **properties: str) -> Mapping[str, object]:
    return {
        "type": "object",
        "properties": {name: {**_TEXT, "description": about} for name, about in properties.items()},
        "required": required.split(),
        "additionalProperties": False,
    }


_PURPOSE = "Why, in one line, for the person who may have to approve it."
_TARGET = "A target of the inventory by its name, or @tag for all that carry it."

TOOLS: tuple[Tool, ...] = (
    Tool(
        name="run",
        kind=Kind.RUN,
        about="Propose one shell command on a target. What certainly only reads runs at once and its "
        "output comes back to you. Anything else waits until a person approves it; you go on after its "
        "recorded end.",
        schema=_takes(
            "target command purpose",
            target=_TARGET,
            command="One bash command line, exactly as it is to run.",
            purpose=_PURPOSE,
            declared_risk="read_only, reversible_low, config_mutation or destructive. It can only make "
            "sayso stricter.",
            verify="A command that only reads and shows that it worked; run afterwards.",
        ),
    ),
    Tool(
        name="start_runbook",
        kind=Kind.RUNBOOK,
        about="Propose a runbook of the library by its id. Prefer it to commands of your own where one fits.",
        schema={
            "type": "object",
            "properties": {
                "runbook": {**_TEXT, "description": "Its id."},
                "target": {**_TEXT, "description": _TARGET},
                "purpose": {**_TEXT, "description": _PURPOSE},
                "inputs": {
                    "type": "object",
                    "description": "Its inputs by name. Never a secret: a person enters those.",
                    "additionalProperties": _TEXT,
                },
            },
            "required": ["runbook", "purpose"],
            "additionalProperties": False,
        },
    ),
    Tool(
        name="targets",
        kind=Kind.LOOK,
        about="List targets with their tags, services and state.",
        schema=_takes("", words="Names, tags or services to look for; left out: all."),
    ),
    Tool(
        name="runbooks",
        kind=Kind.LOOK,
        about="Find runbooks and diagnostics by words, with their ids and inputs.",
        schema=_takes("words", words="What it should be about."),
    ),
    Tool(
        name="history",
        kind=Kind.LOOK,
        about="List what was asked for lately and what became of it.",
        schema=_takes("", target="Only on this target."),
    ),
    Tool(
        name="recall",
        kind=Kind.LOOK,
        about="Read what people told sayso to remember about something.",
        schema=_takes("about", about="What it is about."),
    ),
    Tool(
        name="remind",
        kind=Kind.OFFER,
        about="Offer the person a reminder. It is made only if they press its button.",
        schema=_takes(
            "text when", text="What to be reminded of.", when='As a person says it: "tomorrow at 9".'
        ),
    ),
    Tool(
        name="schedule",
        kind=Kind.OFFER,
        about="Offer the person to run a command later or regularly. Only if they press its button.",
        schema=_takes(
            "target command when",
            target=_TARGET,
            command="One bash command line.",
            when='In words: "every weekday at 9", "at 22:00".',
        ),
    ),
    Tool(
        name="remember",
        kind=Kind.OFFER,
        about="Offer the person to remember a fact. Only if they press its button is it stored.",
        schema=_takes("text", text='The fact, in one sentence: "the standup is on weekdays at 9:30".'),
    ),
    Tool(
        name="send",
        kind=Kind.OFFER,
        about="Offer the person to send a text to a named place. It is sent only if they press its button.",
        schema=_takes("to text", to="The name of the place.", text="What to send."),
    ),
)


def check(tools: Iterable[Tool]) -> Mapping[str, Tool]:
    """Return `tools` by name, held to the rules of the table.

    Raises:
        ToolsError: a name stands twice or is no tool of the gate, an act is not for a model, a tool is not of
            the kind that its profile says, or a second one asks for changes (N5).
    """
    found: dict[str, Tool] = {}
    for one in tools:
        profile = PROFILES.get(one.name)
        if profile is None or one.name in found:
            raise ToolsError(f"{one.name} is no tool of the gate, or stands twice")
        if profile.read_only != (one.kind is Kind.LOOK):
            raise ToolsError(f"{one.name} is no tool that only looks, or looks and says otherwise")
        if not profile.read_only and profile.act not in _ALLOWED:
            raise ToolsError(f"{one.name} is nothing that a model may ask for")
        if (profile.act is Act.EXEC) != (one.kind in {Kind.RUN, Kind.RUNBOOK}):
            raise ToolsError(f"{one.name} runs something and says otherwise, or runs nothing")
        if one.kind in {Kind.RUN, Kind.RUNBOOK} and any(one.kind is other.kind for other in found.values()):
            raise ToolsError(f"{one.name} would be a second tool that asks for changes")
        found[one.name] = one
    return found


BY_NAME = check(TOOLS)
