"""Models that stand in for one: scripted answers, or one that does whatever it reads.

They implement the port behind which a model is, so that everything on our side of it is the real thing.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from bot.planning.model.thinking import Answered, Call, Reply, Results, Thought, Told

#: What answers a call: the number of results that came so far, and what is to be answered.
Answer = Answered | Callable[[Thought], Answered]


def call(tool: str, **args: object) -> Call:
    """Return a call of a tool."""
    return Call(id=f"c-{tool}", tool=tool, args=json.dumps(args))


def calls(*wanted: Call, text: str = "") -> Answered:
    """Return an answer that wants something; every call gets an id of its own."""
    numbered = [Call(id=f"c{at}", tool=one.tool, args=one.args) for at, one in enumerate(wanted)]
    return Answered(text=text, calls=tuple(numbered))


def says(text: str) -> Answered:
    """Return the last words of a model."""
    return Answered(text=text)


def answers_so_far(thought: Thought) -> int:
    """Return how often the model answered in this conversation."""
    return sum(isinstance(one, Answered) for one in thought.messages)


def read(thought: Thought) -> str:
    """Return everything that the model was told, but for its instructions and its own words."""
    parts: list[str] = []
    for message in thought.messages:
        if isinstance(message, Told):
            parts.append(message.text)
        if isinstance(message, Results):
            parts += [one.text for one in message.of]
    return "\n".join(parts)


@dataclass
class Scripted:
    """Gives the answers of a script, one after the other, by how many it gave in this conversation already.

    That is what makes it the same after a restart of the bot.
    """

    script: Sequence[Answer]
    name: str = "compatible:scripted"
    thoughts: list[Thought] = field(default_factory=list)
    tokens_in: int | None = 100
    tokens_out: int | None = 20
    closed: bool = False

    async def think(self, thought: Thought) -> Reply:
        self.thoughts.append(thought)
        at = answers_so_far(thought)
        answer = self.script[at] if at < len(self.script) else says("That is all.")
        answered = answer(thought) if callable(answer) else answer
        return Reply(answered=answered, tokens_in=self.tokens_in, tokens_out=self.tokens_out)

    async def close(self) -> None:
        self.closed = True

    def told(self) -> str:
        """Return everything that the model was ever told."""
        return "\n".join(read(one) for one in self.thoughts)
