"""Recording: two that record failures of one fan-out at the same time count each other's."""

from collections import Counter
from pathlib import Path

import pytest

from bot.fanout import recording
from bot.fanout.recording import Ran
from bot.ports import Ended, EndKind
from gate.domain import ProposalId
from ledger.kinds import Batch, LostRaceError
from tests.bot.fanout.fleet import RELOAD, fleet, ran, view_of
from tests.bot.fanout.gated import Gated, begins, gates, until
from tests.kit import Kit, conversation

pytestmark = pytest.mark.timeout(120)

BAD = Ended(kind=EndKind.EXITED, exit_code=1)


def fails(kit: Kit, proposal: str, index: int) -> bool:
    """Record that a member that runs ended badly; return whether the brake took anything back."""
    member = view_of(kit, proposal).actions[index]
    return recording.record(kit.core, ProposalId(proposal), [Ran(view=member, ended=BAD)])


async def test_the_failure_that_is_one_too_many_is_noticed_whoever_records_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with conversation(tmp_path, inventory=fleet(6), executor=Gated) as kit:
        proposal = await begins(kit, f"on @web: `{RELOAD}`, no canary, 3 at a time, stop after 2 failures")
        await until(lambda: len(ran(kit)) == 3)
        other: list[bool] = []

        def append(batch: Batch) -> object:
            # Between what the first one read and its write, the second one writes.
            monkeypatch.setattr(kit.core.ledger, "append", real)
            other.append(fails(kit, proposal, 1))
            return real(batch)

        real = kit.core.ledger.append
        monkeypatch.setattr(kit.core.ledger, "append", append)
        with pytest.raises(LostRaceError):
            fails(kit, proposal, 0)
        assert other == [False], "one failure is allowed"
        assert kit.states(proposal)[:3] == ["started", "failed", "started"], "nothing of the first one stands"
        assert fails(kit, proposal, 0), "it is the second failure, so the rest is taken back"
        assert Counter(kit.states(proposal)) == {"failed": 2, "started": 1, "waiting": 3}
        for name in ("web1", "web2", "web3"):
            gates(kit).gate(name).set()
        await until(lambda: Counter(kit.states(proposal)) == {"failed": 2, "succeeded": 1, "waiting": 3})
        assert sorted(ran(kit)) == ["web1", "web2", "web3"]
