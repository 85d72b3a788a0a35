"""Secrets are masked wherever people look, and never in what runs."""

from pathlib import Path

from bot.inventory import TargetConfig, build
from gate.domain import TargetKind
from tests.bot.sending import until
from tests.bot.test_conversation_cancel import UntilCancelled
from tests.bot.test_digest import Ends
from tests.kit import Kit, conversation


def ran(kit: Kit) -> list[str]:
    return list(kit.core.executor.ran)  # type: ignore[attr-defined] # Ends


async def test_a_choice_shows_no_secret_and_runs_what_was_typed(tmp_path: Path) -> None:
    inventory = build({name: TargetConfig(kind=TargetKind.LOCAL) for name in ("web1", "web2")}, {})
    async with conversation(tmp_path, executor=Ends, inventory=inventory) as kit:
        asked = await kit.say("run mysql -phunter2 shop")
        assert "On which target? mysql -p*** shop" in asked
        card = await kit.say("web1")
        assert "mysql -p*** shop" in card
        await kit.say("go ahead")
        assert ran(kit) == ["mysql -phunter2 shop"]
        assert "hunter2" not in on_screen(kit)


async def test_readings_to_choose_from_show_no_secret(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends) as kit:
        asked = await kit.say("run mysql -phunter2 on web1 then run uptime on web2")
        assert "more than one way" in asked
        labels = [button.label for one in kit.port.screen.values() for button in one.message.buttons]
        assert any("mysql -p***" in label for label in labels)
        assert not any("hunter2" in label for label in labels)
        assert "hunter2" not in on_screen(kit)


async def test_what_is_unclear_is_recorded_without_its_secret(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends) as kit:
        assert "unclear" in await kit.say("run `mysql -phunter2 shop")
        assert "hunter2" not in on_screen(kit)
        bodies = kit.core.ledger.reader().execute("SELECT body FROM entry").fetchall()
        assert not any("hunter2" in str(row[0]) for row in bodies)


async def test_no_answer_shows_a_secret_of_a_command(tmp_path: Path) -> None:
    # "tr0ub4dor" looks like nothing and is known from the configuration; "hunter2" is recognised
    command = "touch --token hunter2 tr0ub4dor"
    async with conversation(tmp_path, executor=UntilCancelled, secrets=("tr0ub4dor",)) as kit:
        await kit.say(f"run {command} on web1")
        first = kit.newest_id()
        await kit.say(f"what depends on #{first}?")
        await kit.hand_over(kit.inbound(f"approve {first}"))
        await kit.core.executor.runs.wait()  # type: ignore[attr-defined] # UntilCancelled
        await kit.say(f"run {command} on web1")
        second = kit.newest_id()
        await kit.hand_over(kit.inbound(f"approve {second}"))
        await until(lambda: second in kit.app.conversation._work._live.behind)
        for words in ("pending", "cancel", f"details {second}", "history", "stop", f"cancel {second}"):
            assert await kit.say(words), words
        await kit.say(f"cancel {first}")
        await kit.say("history")
        assert ran(kit) == [command]
        shown = on_screen(kit)
        for line in (f"behind #{first}, touch --token *** *** on web1", "Still running: touch --token"):
            assert line in shown
        assert "hunter2" not in shown
        assert "tr0ub4dor" not in shown


async def test_the_words_of_a_yes_are_masked_on_the_card_and_in_history(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends, secrets=("ahead",)) as kit:
        await kit.say("run systemctl restart caddy on web1")
        assert 'approved by ana, "go ***"' in await kit.say("go ahead")
        assert 'approved by ana "go ***"' in await kit.say("history")


def on_screen(kit: Kit) -> str:
    buttons = [button.label for one in kit.port.screen.values() for button in one.message.buttons]
    return "\n".join([*(one.text for one in kit.port.screen.values()), *buttons])
