"""What a posted choice shows once it is over: how it ended, and nothing to press (C25)."""

from pathlib import Path

from tests.kit import Kit, Shown, conversation

UNCLEAR = "tail the error log of caddy on web1 and restart it if it flaps"


async def asked(kit: Kit) -> Shown:
    await kit.say(UNCLEAR)
    (shown,) = [one for one in kit.port.screen.values() if "Cancel" in [b.label for b in one.message.buttons]]
    assert len(shown.message.buttons) > 1
    return shown


async def test_a_picked_option_is_named_and_the_buttons_are_gone(tmp_path: Path) -> None:
    async with conversation(tmp_path) as kit:
        shown = await asked(kit)
        label = shown.message.buttons[-2].label
        await kit.press(shown, label)
        assert shown.message.buttons == ()
        assert shown.text.endswith(f"→ {label}")


async def test_a_dropped_choice_says_so(tmp_path: Path) -> None:
    async with conversation(tmp_path) as kit:
        shown = await asked(kit)
        await kit.press(shown, "Cancel")
        assert shown.message.buttons == ()
        assert "dropped, nothing ran" in shown.text


async def test_another_request_takes_its_place(tmp_path: Path) -> None:
    async with conversation(tmp_path) as kit:
        shown = await asked(kit)
        await kit.say("run uptime on local")
        assert shown.message.buttons == ()
        assert "something else was asked" in shown.text


async def test_an_expired_choice_loses_its_buttons_without_anybody_pressing(tmp_path: Path) -> None:
    async with conversation(tmp_path) as kit:
        shown = await asked(kit)
        kit.clock.advance(kit.core.policy.clarification_s + 1)
        await kit.look()
        assert shown.message.buttons == ()
        assert "expired, nothing ran" in shown.text


async def test_a_typed_cancel_closes_it_too(tmp_path: Path) -> None:
    async with conversation(tmp_path) as kit:
        shown = await asked(kit)
        await kit.say("cancel")
        assert shown.message.buttons == ()
        row = kit.core.ledger.reader().execute("SELECT state FROM outbox WHERE kind='close'").fetchone()
        assert row == ("done",)


async def test_the_end_of_a_choice_that_was_never_shown_is_no_fault(tmp_path: Path) -> None:
    async with conversation(tmp_path) as kit:
        shown = await asked(kit)
        kit.core.ledger.outbox.asked = lambda _place, _choice: None  # type: ignore[method-assign] # as if it was lost
        await kit.say("cancel")
        assert shown.message.buttons
        row = kit.core.ledger.reader().execute("SELECT state FROM outbox WHERE kind='close'").fetchone()
        assert row == ("done",)
