"""A conversation over twelve web hosts and two more, whose commands end as a test says, host by host."""

import asyncio
from collections.abc import Mapping

from bot.inventory import Inventory, TargetConfig, build
from bot.ports import Ended, EndKind, OutputSink
from gate.domain import Action, ProposalId, Target, TargetKind
from ledger.views import ProposalView
from tests.kit import Kit

WEB = tuple(f"web{number}" for number in range(1, 13))
RELOAD = "systemctl reload nginx"


def fleet(count: int = 12) -> Inventory:
    """Return an inventory of web1 … and db1, mail, none of which anything is run on."""
    tags = {f"web{number}": ("web",) for number in range(1, count + 1)} | {"db1": ("db",), "mail": ()}
    return build({name: TargetConfig(kind=TargetKind.LOCAL, tags=tag) for name, tag in tags.items()}, {})


class ByHost:
    """An executor whose commands end as `ends` says of their host, else well."""

    ends: Mapping[str, str] = {}

    def __init__(self, _inventory: object) -> None:
        self.ran: list[tuple[str, str]] = []

    async def identify(self, target: Target) -> Target:
        return target

    async def run(
        self, action: Action, *, on_output: OutputSink, cancel: asyncio.Event, reads: bool = False
    ) -> Ended:
        name = str(action.target.id)
        self.ran.append((name, action.command))
        match self.ends.get(name, ""):
            case "failed":
                return Ended(kind=EndKind.EXITED, exit_code=1)
            case "lost":
                return Ended(kind=EndKind.LOST, note="the connection broke")
            case "hangs":
                await cancel.wait()
                return Ended(kind=EndKind.CANCELLED, note="cancelled")
            case _:
                return Ended(kind=EndKind.EXITED, exit_code=0)

    async def close(self) -> None:
        return


def ends(**by_host: str) -> type[ByHost]:
    """Return an executor whose commands end so; "failed", "lost" or "hangs"."""
    return type("Ends", (ByHost,), {"ends": by_host})


def ran(kit: Kit) -> list[str]:
    """Return where something ran, in order."""
    return [name for name, _ in kit.core.executor.ran]  # type: ignore[attr-defined] # ByHost


def view_of(kit: Kit, proposal: str | None = None) -> ProposalView:
    """Return a proposal, the newest by default."""
    view = kit.core.queries.proposal(ProposalId(proposal or kit.newest_id()))
    assert view is not None
    return view


def targets_of(kit: Kit, proposal: str | None = None) -> list[str]:
    """Return where the actions of a proposal go, in order."""
    return [str(one.action.target.id) for one in view_of(kit, proposal).actions]
