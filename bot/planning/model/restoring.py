"""Reading a plan back from the ledger: its conversation, what it has taken, and what it waits for.

The rule it owns: every entry names the digest of the whole conversation up to it, and a plan whose words are
not those that were recorded, or whose proposals are not those that it made, is not sound; nothing follows
from it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from bot.core import Core
from bot.planning.model.budget import Spent
from bot.planning.model.thinking import (
    Message,
    Result,
    Results,
    Told,
    answer_of,
    extended,
    results_of,
)
from bot.planning.model.wanting import Wait
from ledger.codec import items, mapping
from ledger.kinds import Json, Kind
from ledger.plans import PlanEntry, PlanView


@dataclass(slots=True, kw_only=True)
class Restored:
    """A plan as its entries tell it.

    Attributes:
        messages: the conversation, as the model has it or is owed it.
        number: how many calls were begun; `open_call` where the newest has no answer in the record.
        spent: what they took; of a call without an answer all that was set aside.
        results: those of the newest answer that were known at once.
        waits: what the others wait for.
        order: the calls of the newest answer, in their order.
        unread: how many calls could not be read so far.
        sound: whether the words are those that were recorded.
        history: what stands for the conversation in the record.
    """

    view: PlanView
    messages: list[Message] = field(default_factory=list)
    number: int = 0
    open_call: bool = False
    spent: Spent = field(default_factory=Spent)
    results: tuple[Result, ...] = ()
    waits: tuple[Wait, ...] = ()
    order: tuple[str, ...] = ()
    unread: int = 0
    sound: bool = True
    history: str = ""

    def add(self, message: Message) -> None:
        """Go on with the next message."""
        self.messages.append(message)
        self.history = extended(self.history, message)


def restore(core: Core, plan: str) -> Restored | None:
    """Return a plan as the ledger has it; None for an unknown id."""
    view = core.queries.plan(plan)
    if view is None:
        return None
    found = Restored(view=view)
    for entry in core.queries.plan_entries(plan):
        try:
            _read(found, entry)
        except (KeyError, TypeError, ValueError):
            found.sound = False
        if not found.sound:
            break
    return found


def _read(found: Restored, entry: PlanEntry) -> None:
    match entry.kind:
        case Kind.PLAN_CALLED:
            _called(found, entry)
        case Kind.PLAN_ANSWERED:
            _answered(found, entry)
        case Kind.PLAN_CONTINUED:
            found.add(Results(of=results_of(entry.words["results"])))
            found.results, found.waits, found.order = (), (), ()
            _check(found, entry)
        case _:
            pass


def _called(found: Restored, entry: PlanEntry) -> None:
    if not found.messages:
        found.add(Told(text=entry.words["context"]))
    found.number, found.open_call = found.number + 1, True
    found.spent += spent_of(mapping(entry.body["reserve"]))
    _check(found, entry)


def _answered(found: Restored, entry: PlanEntry) -> None:
    answered = answer_of(entry.words["reply"])
    found.add(answered)
    found.open_call = False
    # What was set aside gives way to what was taken.
    found.spent += spent_of(mapping(entry.body["correction"]))
    found.results = results_of(entry.words["results"])
    found.waits = tuple(_wait(mapping(one)) for one in items(entry.body["waits"]))
    found.order = tuple(one.id for one in answered.calls)
    unread = entry.body["unread"]
    found.unread += unread if isinstance(unread, int) else 0
    _check(found, entry)


def _check(found: Restored, entry: PlanEntry) -> None:
    found.sound = found.history == entry.body["history"]


def spent_doc(spent: Spent) -> dict[str, Json]:
    """Return what was taken as JSON values."""
    return {
        "calls": spent.calls,
        "tokens": spent.tokens,
        "seconds": round(spent.seconds, 3),
        "micros": spent.micros,
    }


def spent_of(doc: Mapping[str, Json]) -> Spent:
    """Return what `spent_doc` wrote."""
    calls, tokens, seconds, micros = (doc[name] for name in ("calls", "tokens", "seconds", "micros"))
    if not isinstance(seconds, int | float):
        raise TypeError(f"expected seconds, got {seconds!r}")
    return Spent(calls=_whole(calls), tokens=_whole(tokens), seconds=seconds, micros=_whole(micros))


def wait_doc(wait: Wait) -> dict[str, Json]:
    """Return what a call waits for as JSON values."""
    return {
        "call": wait.call,
        "tool": wait.tool,
        "name": wait.name,
        "digest": wait.digest,
        "first": wait.first,
        "last": wait.last,
    }


def _wait(doc: Mapping[str, Json]) -> Wait:
    return Wait(
        call=str(doc["call"]),
        tool=str(doc["tool"]),
        name=str(doc["name"]),
        digest=str(doc["digest"]),
        first=_whole(doc["first"]),
        last=_whole(doc["last"]),
    )


def _whole(value: Json) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"expected a whole number, got {value!r}")
    return value
