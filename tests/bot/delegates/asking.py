"""A conversation that an agent may ask in, for tests of delegates."""

import contextlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bot.callers import Answer, Wanted, no_progress
from bot.delegates.delegate import Delegate
from bot.delegates.desk import Desk
from bot.delegates.keys import Keys
from bot.ports import PlaceRef
from gate.domain import PersonId, TargetId
from gate.policy import Operator
from tests.kit import Kit, conversation, person

PLACE = PlaceRef(platform="script", channel="ops")
ANA, KIM = person("ana"), person("kim")


def delegate(name: str = "claude", **changes: object) -> Delegate:
    """Return an agent that may do everything that any may, on all targets of the kit."""
    named: dict[str, object] = {
        "name": name,
        "place": PLACE,
        "targets": frozenset(map(TargetId, ("local", "web1", "web2"))),
    }
    return Delegate(**{**named, **changes})  # type: ignore[arg-type]  # fields by name


@dataclass(slots=True, kw_only=True)
class Asking:
    """A conversation and the desk where agents ask in it."""

    kit: Kit
    desk: Desk

    async def run(
        self,
        command: str,
        *,
        target: str = "web1",
        purpose: str = "to look",
        agent: str = "claude",
        **more: object,
    ) -> Answer:
        """Ask for a command."""
        wanted = Wanted(target=target, command=command, purpose=purpose, **more)  # type: ignore[arg-type]  # fields by name
        return await self.desk.run(agent, wanted)

    async def result(self, name: object, *, agent: str = "claude") -> Answer:
        """Ask what came of it, without waiting."""
        return await self.desk.result(agent, str(name), wait_s=0, progress=no_progress)

    async def seen(self) -> str:
        """Return everything that people see once all of it is shown."""
        delivery = self.kit.app.conversation._delivery
        await delivery.flush()
        await delivery.settled()
        return "\n\n".join(one.text for one in self.kit.port.screen.values())


@contextlib.asynccontextmanager
async def asking(
    folder: Path,
    *delegates: Delegate,
    operators: Sequence[Operator] = (ANA, KIM),
    keys: Keys | None = None,
    **changes: object,
) -> AsyncIterator[Asking]:
    """Run a conversation that `delegates` may ask in; one named claude by default."""
    known = {PersonId(one.id): one for one in delegates or (delegate(),)}
    async with conversation(folder, operators=operators, delegates=known, **changes) as kit:  # type: ignore[arg-type]  # fields by name
        yield Asking(kit=kit, desk=Desk(kit.core, kit.app.conversation, keys or Keys(), look_every_s=0.01))
