"""A run that may go on, and how what happens to it is written."""

from collections.abc import Sequence
from dataclasses import dataclass

from bot.core import Core
from bot.outcome import Outcome
from bot.runbooks.restoring import Restored
from gate.domain import PersonId, PlaceId, ProposalId, TurnId
from gate.supervise.domain import RunId
from gate.supervise.events import Event
from ledger.kinds import Kind
from ledger.run_events import draft_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Going:
    """A run that may go on: who asked for it, by what, and where its card stands.

    `source` is "model" where a model began it for that person; "" for most.
    """

    run: RunId
    title: str
    place: PlaceId
    person: PersonId
    undoes: RunId | None = None
    source: str = ""

    @classmethod
    def of(cls, restored: Restored) -> "Going":
        """Return what was restored."""
        view = restored.view
        return cls(
            run=view.id,
            title=view.title,
            place=view.place,
            person=view.person,
            undoes=view.undoes,
            source=view.source,
        )


def write(outcome: Outcome, run: RunId, events: Sequence[Event]) -> None:
    """Write what happened to `run`."""
    outcome.drafts.extend(draft_of(event, run=run) for event in events)


def refresh(outcome: Outcome, going: Going) -> None:
    """Bring the card of a run to its present state."""
    outcome.refresh(ProposalId(going.run), place=going.place)


def new_outcome(core: Core, place: PlaceId) -> Outcome:
    """Return the outcome of a turn of nobody's in the place of a run."""
    return Outcome(at=core.now(), place=place, turn=TurnId(core.ids.token()), new_nonce=core.ids.token)


def answered(core: Core, outcome: Outcome) -> None:
    """Write that the bot showed something by itself, and whose next words count for it (D2)."""
    window = outcome.window if not core.queries.pending() else None
    outcome.write(
        Kind.TURN_ANSWERED,
        body={
            "turn": outcome.turn,
            "place": outcome.place,
            "shows": list(outcome.shows),
            "window": None if window is None else {"person": window[0], "proposal": window[1]},
        },
    )
