"""What `pending` and details say of what waits behind something, and of what is frozen."""

from pathlib import Path

import pytest

from bot.core import Core
from bot.deadlines import close_due
from bot.execution import ending
from gate.domain import ActionId, PersonId
from ledger.views import ActionView
from tests.bot.sending import until
from tests.bot.test_conversation_cancel import UntilCancelled
from tests.bot.test_digest import Ends
from tests.kit import Kit, conversation


async def one_behind_another(kit: Kit) -> tuple[str, str]:
    """Let one change run, and another wait for its turn on the same target; return their ids."""
    await kit.say("run systemctl restart caddy on web1")
    first = kit.newest_id()
    await kit.hand_over(kit.inbound("go ahead"))
    await kit.core.executor.runs.wait()  # type: ignore[attr-defined] # UntilCancelled
    await kit.say("run systemctl restart nginx on web1")
    second = kit.newest_id()
    await kit.say(f"approve {second}", settle=False)
    await until(lambda: second in kit.app.conversation._work._live.behind)
    return first, second


async def test_pending_and_details_say_what_a_queued_action_waits_behind(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=UntilCancelled) as kit:
        first, second = await one_behind_another(kit)
        behind = f"waits behind #{first}, restart caddy on web1"
        assert behind in await kit.say("pending")
        assert behind in await kit.say(f"details {second}")
        await kit.say(f"cancel {second}", settle=False)
        await kit.say(f"cancel {first}")


async def test_what_the_timer_ends_in_the_moment_of_its_turn_ends_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    void = ending.void

    def behind_the_timer(core: Core, view: ActionView, *, note: str) -> None:
        close_due(core)
        void(core, view, note=note)

    monkeypatch.setattr(ending, "void", behind_the_timer)
    async with conversation(tmp_path, executor=UntilCancelled) as kit:
        first, second = await one_behind_another(kit)
        kit.clock.advance(kit.core.policy.start_within_s + 1)
        assert kit.app.conversation._work.cancel(ActionId(f"{first}.1"), by=PersonId("ana"))
        await until(lambda: kit.states(second) == ["cancelled"])
        await kit.at_rest()
        assert kit.kinds().count("action:cancelled") == 2
        assert not caplog.records


async def test_pending_names_what_is_frozen(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends) as kit:
        await kit.say("run systemctl restart lost on web1")
        await kit.say("go ahead")
        assert "Frozen until settled: web1." in await kit.say("pending")
