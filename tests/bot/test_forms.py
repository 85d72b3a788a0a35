"""Forms: which press opens which, to whom, and what stands in the field."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from bot import tokens
from bot.ports import Inbound, InboundKind
from bot.turn import Turns
from tests.bot.filling import DELETE, PHRASE, RESTART, labels, view_of, with_forms
from tests.bot.test_digest import Ends
from tests.kit import ScriptedPort, conversation

# ---------------------------------------------------------------- which buttons, which forms


@pytest.mark.parametrize(("can", "types"), [({}, False), ({"forms": True}, True), ({"replies": True}, True)])
async def test_what_is_typed_has_a_button_where_there_is_a_field(
    tmp_path: Path, can: dict[str, bool], *, types: bool
) -> None:
    async with conversation(tmp_path, executor=Ends, port=ScriptedPort(**can)) as kit:
        await kit.say(DELETE)
        assert ("Type phrase" in labels(kit), "Edit" in labels(kit)) == (types, types)
        assert "Approve" not in labels(kit)
        await kit.say(RESTART)
        assert "Type phrase" not in labels(kit)
        assert ("Edit" in labels(kit)) == types


async def test_each_press_opens_its_form(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends, port=with_forms()) as kit:
        await kit.say(DELETE)
        phrase = await kit.form(kit.card, "Type phrase")
        assert phrase is not None
        assert (phrase.title, phrase.label, phrase.hint) == ("Type the phrase", PHRASE, PHRASE)
        assert (phrase.required, phrase.initial) == (True, "")
        edit = await kit.form(kit.card, "Edit")
        assert edit is not None
        assert (edit.title, edit.initial, edit.lines) == (
            "Change the request",
            "`rm -rf /srv/x` on web1",
            True,
        )
        assert await kit.form(kit.card, "Details") is None
        deny = await kit.form(kit.card, "Deny")
        assert deny is not None
        assert (deny.title, deny.label, deny.required) == ("Denied", "Why?", False)
        for form in (phrase, edit, deny):
            assert len(form.token) <= 32
            assert len(form.title) <= 24
            assert len(form.label) <= 45


async def test_a_long_phrase_does_not_overflow_the_field(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends, port=with_forms()) as kit:
        await kit.say(f"run rm -rf /srv/{'x' * 30} on web1")
        form = await kit.form(kit.card, "Type phrase")
        assert form is not None
        assert form.label == "The phrase on the card"
        assert len(form.hint) <= 60


@pytest.mark.parametrize(("by", "is_bot"), [("mallory", False), ("ana", True)])
@pytest.mark.parametrize("label", ["Type phrase", "Deny", "Edit"])
async def test_strangers_and_bots_are_shown_no_form(
    tmp_path: Path, label: str, by: str, *, is_bot: bool
) -> None:
    async with conversation(tmp_path, executor=Ends, port=with_forms()) as kit:
        await kit.say(DELETE)
        assert await kit.form(kit.card, label, by=by, is_bot=is_bot) is None
        assert kit.states() == ["waiting"]


@pytest.mark.parametrize("label", ["Type phrase", "Deny", "Edit"])
async def test_a_dead_card_opens_no_form(tmp_path: Path, label: str) -> None:
    async with conversation(tmp_path, executor=Ends, port=with_forms()) as kit:
        await kit.say(DELETE)
        card = replace(kit.card)
        await kit.say("no, not now")
        assert await kit.form(card, label) is None
        assert "was already refused by ana" in kit.port.notes[-1][1]


async def test_a_token_of_nothing_opens_no_form(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends, port=with_forms()) as kit:
        await kit.say(DELETE)
        key = kit.core.token_key
        for token in (
            "nonsense",
            tokens.make(key, choice=tokens.TYPE, subject="k99999", shown="x"),
            tokens.make(b"another" * 5, choice=tokens.TYPE, subject=kit.newest_id(), shown="x"),
        ):
            pressed = replace(kit.inbound(""), kind=InboundKind.CLICK, token=token)
            receipt = await kit.hand_over(pressed)
            await receipt.settled
            assert receipt.form is None
        assert kit.states() == ["waiting"]


async def test_a_form_is_no_button_and_a_button_no_form(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends, port=with_forms()) as kit:
        await kit.say(RESTART)
        form = await kit.form(kit.card, "Edit")
        assert form is not None
        swapped = replace(kit.inbound("go ahead"), kind=InboundKind.FORM, token=kit.card.token("Approve"))
        assert "belongs to nothing here" in await kit.send(swapped)
        pressed = replace(kit.inbound(""), kind=InboundKind.CLICK, token=form.token)
        assert "belongs to nothing here" in await kit.send(pressed)
        forged = tokens.make(kit.core.token_key, choice=tokens.PHRASE_FORM, subject="k99999", shown="x")
        sent = replace(kit.inbound("go ahead"), kind=InboundKind.FORM, token=forged)
        assert "belongs to nothing here" in await kit.send(sent)
        assert kit.states() == ["waiting"]


# ---------------------------------------------------------------- what stands in the field


async def test_a_command_with_a_secret_is_never_put_into_a_field(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends, port=with_forms(), secrets=("hunter22",)) as kit:
        await kit.say("run curl -X POST -d token=hunter22 http://x/ on web1")
        assert await kit.form(kit.card, "Edit") is None
        assert f"edit {kit.newest_id()} run <command> on <target>" in kit.port.notes[-1][1]


async def test_a_list_is_changed_line_by_line(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends, port=with_forms()) as kit:
        await kit.say("web1: systemctl restart a\nweb2: systemctl restart b")
        form = await kit.form(kit.card, "Edit")
        assert form is not None
        assert form.initial == "`systemctl restart a` on web1\n`systemctl restart b` on web2"
        await kit.fill(form, form.initial.splitlines()[1])
        assert [str(one.action.command) for one in view_of(kit).actions] == ["systemctl restart b"]


async def test_what_was_asked_for_beside_the_command_stands_in_the_field(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends, port=with_forms()) as kit:
        request = "`systemctl restart caddy` on web1 in /srv with 30s timeout\nverify: uptime"
        await kit.say(request)
        form = await kit.form(kit.card, "Edit")
        assert form is not None
        assert form.initial == request


async def test_a_list_that_would_not_read_back_the_same_has_no_form(tmp_path: Path) -> None:
    """Two blocks cannot stand in one request, so the words for it are shown instead."""
    async with conversation(tmp_path, executor=Ends, port=with_forms()) as kit:
        await kit.say("web1: systemctl restart `echo a`\nweb2: systemctl restart `echo b`")
        assert len(view_of(kit).actions) == 2
        assert await kit.form(kit.card, "Edit") is None


# ---------------------------------------------------------------- a form that cannot be made


async def test_a_form_that_cannot_be_made_does_not_cost_the_press(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with conversation(tmp_path, executor=Ends, port=with_forms()) as kit:
        await kit.say(RESTART)
        card = kit.card

        def broken(_inbound: Inbound) -> None:
            raise ZeroDivisionError

        object.__setattr__(kit.app.conversation, "_turns", _Broken(kit.app.conversation._turns, broken))
        assert await kit.form(card, "Deny") is None
        assert kit.states() == ["cancelled"]
        assert "no form for" in caplog.text


class _Broken:
    """Turns of which one method is another."""

    def __init__(self, turns: Turns, form_for: Callable[[Inbound], None]) -> None:
        self._turns = turns
        self.form_for = form_for

    def __getattr__(self, name: str) -> object:
        return getattr(self._turns, name)
