"""What a model is told, what it answers, and the port behind which one is.

Values and their JSON, as the ledger keeps them. The rule it owns: a conversation has a digest over every
word of it, so that a plan goes on only from the very words that were recorded.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from bot.planning.model.tools import Tool


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A tool that the model wants used. `args` are as it wrote them: JSON text, or what it takes for that."""

    id: str
    tool: str
    args: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What the model is told first: the request, and what is known around it."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """What the model answered: words, calls, or both."""

    text: str = ""
    calls: tuple[Call, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What came of one call, in words for the model."""

    call: str
    tool: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """What came of all calls of an answer, in their order."""

    of: tuple[Result, ...]


Message = Told | Answered | Results


@dataclass(frozen=True, slots=True, kw_only=True)
class Thought:
    """One call of a model, whole.

    Attributes:
        instructions: what holds for all of it; ours, the same for every plan.
        messages: the conversation so far, which ends in what the model has to answer.
        answer_tokens: how many tokens the answer may have.
        timeout_s: how long it may take.
    """

    instructions: str
    messages: tuple[Message, ...]
    tools: tuple[Tool, ...]
    answer_tokens: int
    timeout_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """An answer, and what it took; None where the endpoint does not say."""

    answered: Answered
    tokens_in: int | None = None
    tokens_out: int | None = None


class ThinkerError(Exception):
    """The model gave no answer that can be read; the message says why, in words for people."""


class Thinker(Protocol):
    """A model behind an endpoint."""

    #: What people are told it is: "openai:gpt-4.1".
    name: str

    async def think(self, thought: Thought) -> Reply:
        """Call the model once.

        Raises:
            ThinkerError: it is down, refused, or what it answered cannot be read.
        """

    async def close(self) -> None:
        """Free everything."""


# ---------------------------------------------------------------- as text


def answer_text(answered: Answered) -> str:
    """Return an answer as JSON."""
    calls = [[one.id, one.tool, one.args] for one in answered.calls]
    return _json({"text": answered.text, "calls": calls})


def answer_of(text: str) -> Answered:
    """Return the answer that `answer_text` wrote.

    Raises:
        ValueError: the text is no such answer.
    """
    match json.loads(text):
        case {"text": str(said), "calls": list(calls)}:
            return Answered(text=said, calls=tuple(_call(one) for one in calls))
        case _:
            raise ValueError("no answer of a model")


def results_text(results: Sequence[Result]) -> str:
    """Return results as JSON."""
    return _json([[one.call, one.tool, one.text] for one in results])


def results_of(text: str) -> tuple[Result, ...]:
    """Return the results that `results_text` wrote.

    Raises:
        ValueError: the text is no such list.
    """
    found: list[Result] = []
    for one in json.loads(text):
        match one:
            case [str(call), str(tool), str(said)]:
                found.append(Result(call=call, tool=tool, text=said))
            case _:
                raise ValueError("no results of calls")
    return tuple(found)


def extended(digest: str, *more: Message) -> str:
    """Return what stands for a conversation that goes on with `more`: SHA-256 over it and what came before.

    Args:
        digest: of what came before; "" for nothing.
    """
    for message in more:
        text = f"{digest}\n{_json(_doc(message))}"
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return digest


def length_of(thought: Thought) -> int:
    """Return how many characters a call says to the model."""
    tools = sum(len(one.name) + len(one.about) + len(_json(one.schema)) for one in thought.tools)
    return len(thought.instructions) + tools + len(_json([_doc(one) for one in thought.messages]))


def _doc(message: Message) -> Mapping[str, object]:
    match message:
        case Told(text=text):
            return {"told": text}
        case Answered():
            return {"answered": answer_text(message)}
        case Results(of=of):
            return {"results": results_text(of)}


def _call(doc: object) -> Call:
    match doc:
        case [str(name), str(tool), str(args)]:
            return Call(id=name, tool=tool, args=args)
        case _:
            raise ValueError("no call of a tool")


def _json(doc: object) -> str:
    return json.dumps(doc, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
