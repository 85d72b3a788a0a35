"""What `pending` and details say of what waits behind something, and of what is frozen."""

from pathlib import Path

from tests.bot.sending import until
from tests.bot.test_conversation_cancel import UntilCancelled
from tests.bot.test_digest import Ends
from tests.kit import conversation


async def test_pending_and_details_say_what_a_queued_action_waits_behind(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=UntilCancelled) as kit:
        await kit.say("run systemctl restart caddy on web1")
        first = kit.newest_id()
        await kit.hand_over(kit.inbound("go ahead"))
        await kit.core.executor.runs.wait()  # type: ignore[attr-defined] # UntilCancelled
        await kit.say("run systemctl restart nginx on web1")
        second = kit.newest_id()
        await kit.say(f"approve {second}", settle=False)
        await until(lambda: second in kit.app.conversation._work._live.behind)
        behind = f"waits behind #{first}, restart caddy on web1"
        assert behind in await kit.say("pending")
        assert behind in await kit.say(f"details {second}")
        await kit.say(f"cancel {second}", settle=False)
        await kit.say(f"cancel {first}")


async def test_pending_names_what_is_frozen(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends) as kit:
        await kit.say("run systemctl restart lost on web1")
        await kit.say("go ahead")
        assert "Frozen until settled: web1." in await kit.say("pending")
