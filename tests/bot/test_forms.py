"""Forms: which press opens which, what becomes of them when they come back, and who may send them."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC
from pathlib import Path

import pytest

from bot import asking as choosing
from bot import tokens
from bot.answering import Speaker
from bot.outcome import text_of
from bot.planning.drafts import Option, Question
from bot.ports import Inbound, InboundKind
from bot.turn import Turns
from gate.domain import ProposalId, Risk
from gate.policy import Permission
from ledger.views import ProposalView
from tests.bot.test_digest import Ends
from tests.kit import Kit, ScriptedPort, Shown, conversation, person

DELETE = "run rm -rf /srv/x on web1"
PHRASE = "delete /srv/x on web1"
RESTART = "run systemctl restart caddy on web1"
LITTLE = Permission(risk=Risk.REVERSIBLE_LOW, targets=("web2",))


def labels(kit: Kit) -> list[str]:
    return [one.label for one in kit.card.message.buttons]


def ran(kit: Kit) -> list[str]:
    return list(kit.core.executor.ran)  # type: ignore[attr-defined] # Ends


def with_forms() -> ScriptedPort:
    return ScriptedPort(forms=True)


def view_of(kit: Kit, proposal: str | None = None) -> ProposalView:
    view = kit.core.queries.proposal(ProposalId(proposal or kit.newest_id()))
    assert view is not None
    return view


def asking(kit: Kit, words: str) -> Shown:
    """Return the newest message that asks for a reply to it and holds `words`."""
    found = [one for one in kit.port.screen.values() if one.message.asks and words in one.text]
    return found[-1]


def reasons(kit: Kit) -> list[str]:
    """Return the state of every reason that was recorded."""
    rows = kit.core.ledger.reader().execute(
        "SELECT json_extract(body, '$.reason_state') FROM entry WHERE kind='reason:given' ORDER BY seq"
    )
    return [row[0] for row in rows]


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


# ---------------------------------------------------------------- the phrase


async def test_the_phrase_runs_it_and_another_does_not(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends, port=with_forms()) as kit:
        await kit.say(DELETE)
        form = await kit.form(kit.card, "Type phrase")
        for wrong in ("delete /srv/y on web1", "yes", "go ahead", ""):
            await kit.fill(form, wrong)
            assert kit.states() == ["waiting"], wrong
        await kit.fill(form, PHRASE)
        assert kit.states() == ["succeeded"]
        assert ran(kit) == ["rm -rf /srv/x"]


async def test_a_press_that_opens_a_form_says_the_phrase_privately_too(tmp_path: Path) -> None:
    """The form may not open in time; then the press is answered all the same."""
    async with conversation(tmp_path, executor=Ends, port=with_forms()) as kit:
        await kit.say(DELETE)
        await kit.form(kit.card, "Type phrase")
        assert kit.port.notes == [("ana", f"To run it, type:  {PHRASE}")]


async def test_a_form_that_comes_after_the_deadline_is_told_so(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends, port=with_forms()) as kit:
        await kit.say(DELETE)
        form = await kit.form(kit.card, "Type phrase")
        kit.clock.advance(901)
        shown = await kit.fill(form, PHRASE)
        assert f"#{kit.newest_id()} expired at 14:15, nothing ran" in shown
        assert ran(kit) == []


async def test_a_form_of_a_card_that_changed_is_told_what_replaced_it(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends, port=with_forms()) as kit:
        await kit.say(DELETE)
        old, card = kit.newest_id(), kit.card
        phrase, edit = await kit.form(card, "Type phrase"), await kit.form(card, "Edit")
        await kit.fill(edit, "`rm -rf /srv/y` on web1")
        for form, text in ((phrase, PHRASE), (edit, "`rm -rf /srv/z` on web1")):
            assert f"#{old} was replaced by #{kit.newest_id()}" in await kit.fill(form, text)
        assert kit.states(old) == ["cancelled"]
        assert kit.states() == ["waiting"]
        assert ran(kit) == []


async def test_a_form_of_work_that_runs_already_says_who_approved(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends, port=with_forms()) as kit:
        await kit.say(DELETE)
        form = await kit.form(kit.card, "Type phrase")
        await kit.fill(form, PHRASE)
        assert "was already approved by ana at 14:00" in await kit.fill(form, PHRASE)
        assert ran(kit) == ["rm -rf /srv/x"]


@pytest.mark.parametrize(("by", "told"), [("mallory", "Only operators decide here"), ("bo", "bo may not")])
async def test_whoever_may_not_cannot_send_a_form_either(tmp_path: Path, by: str, told: str) -> None:
    people = (person("ana"), person("bo", LITTLE))
    async with conversation(tmp_path, operators=people, executor=Ends, port=with_forms()) as kit:
        await kit.say(DELETE)
        form = await kit.form(kit.card, "Type phrase")
        await kit.fill(form, PHRASE, by=by)
        assert kit.states() == ["waiting"]
        assert kit.port.notes[-1][0] == by
        assert told in kit.port.notes[-1][1]


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


# ---------------------------------------------------------------- no


async def test_a_press_of_deny_stops_at_once_and_the_form_brings_the_reason(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends, port=with_forms()) as kit:
        await kit.say(RESTART)
        form = await kit.form(kit.card, "Deny")
        assert kit.states() == ["cancelled"]
        assert reasons(kit) == []
        assert f"Noted with #{kit.newest_id()}" in await kit.fill(form, "the backup is running")
        assert reasons(kit) == ["given"]
        assert "No reason is owed" in await kit.fill(form, "once more")
        assert reasons(kit) == ["given"]
        approval = view_of(kit).actions[0].approval
        assert approval is not None
        assert approval.why == "the backup is running"


async def test_an_empty_reason_is_none_and_keeps_nothing_open(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends, port=with_forms()) as kit:
        await kit.say(RESTART)
        form = await kit.form(kit.card, "Deny")
        assert await kit.fill(form, "  ") == ""
        assert kit.states() == ["cancelled"]
        kit.clock.advance(901)
        await kit.look()
        assert reasons(kit) == ["not_given"]


async def test_only_who_refused_owes_the_reason(tmp_path: Path) -> None:
    people = (person("ana"), person("bo"))
    async with conversation(tmp_path, operators=people, executor=Ends, port=with_forms()) as kit:
        await kit.say(RESTART)
        form = await kit.form(kit.card, "Deny")
        assert "No reason is owed" in await kit.fill(form, "not mine", by="bo")
        assert reasons(kit) == []


async def test_a_reply_to_the_message_that_asks_is_the_reason(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends, port=ScriptedPort(replies=True)) as kit:
        await kit.say(RESTART)
        await kit.press(kit.card, "Deny")
        asks = asking(kit, "Why?")
        assert asks.message.asks == "why"
        # Words that would be a request anywhere else are a reason in reply to the question.
        shown = await kit.say("disk space on web1?", reply_to=asks)
        assert f"Noted with #{kit.newest_id()}" in shown
        assert reasons(kit) == ["given"]


async def test_the_next_words_after_a_press_of_deny_are_the_reason(tmp_path: Path) -> None:
    """Although they name a diagnostic, and although a press leaves the window of its card open."""
    async with conversation(tmp_path, executor=Ends) as kit:
        await kit.say(RESTART)
        await kit.press(kit.card, "Deny")
        assert f"Noted with #{kit.newest_id()}" in await kit.say("the backup is running")
        assert reasons(kit) == ["given"]
        assert ran(kit) == []


async def test_a_reply_fills_in_the_phrase(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends, port=ScriptedPort(replies=True)) as kit:
        await kit.say(DELETE)
        await kit.press(kit.card, "Type phrase")
        assert kit.port.notes == []
        await kit.say("nonsense", reply_to=asking(kit, PHRASE))
        assert kit.states() == ["waiting"]
        await kit.say(PHRASE, reply_to=asking(kit, PHRASE))
        assert ran(kit) == ["rm -rf /srv/x"]


async def test_a_forwarded_reply_fills_in_nothing(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends, port=ScriptedPort(replies=True)) as kit:
        await kit.say(DELETE)
        await kit.press(kit.card, "Type phrase")
        await kit.say(PHRASE, reply_to=asking(kit, PHRASE), forwarded=True)
        assert kit.states() == ["waiting"]


@pytest.mark.parametrize("words", ["stop", "auto off", "never auto web1"])
async def test_what_tightens_acts_in_reply_to_a_question_too(tmp_path: Path, words: str) -> None:
    async with conversation(tmp_path, executor=Ends, port=ScriptedPort(replies=True)) as kit:
        await kit.say(RESTART)
        await kit.press(kit.card, "Deny")
        await kit.say(words, reply_to=asking(kit, "Why?"))
        switches = kit.core.switches()
        assert switches.stopped or switches.auto_off or switches.never_auto_act == ("web1",)
        assert reasons(kit) == []


# ---------------------------------------------------------------- a changed request


async def test_a_changed_request_replaces_the_card(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends, port=with_forms()) as kit:
        await kit.say(RESTART)
        old, card = view_of(kit), replace(kit.card)
        form = await kit.form(kit.card, "Edit")
        await kit.fill(form, "`systemctl restart nginx` on web2")
        new = view_of(kit)
        assert new.id != old.id
        assert new.actions[0].digest != old.actions[0].digest
        assert new.actions[0].action.command == "systemctl restart nginx"
        assert view_of(kit, old.id).replaced_by == new.id
        assert "approval:superseded" in kit.kinds()
        assert kit.states(old.id) == ["cancelled"]
        assert f"#{old.id} was replaced by #{new.id}" in await kit.press(card, "Approve")
        assert ran(kit) == []
        await kit.say("go ahead")
        assert ran(kit) == ["systemctl restart nginx"]


async def test_edit_in_words_does_the_same(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends) as kit:
        await kit.say(RESTART)
        old = kit.newest_id()
        await kit.say(f"edit {old} run systemctl restart nginx on web1")
        assert kit.newest_id() != old
        assert view_of(kit, old).replaced_by == kit.newest_id()
        assert kit.states(old) == ["cancelled"]
        assert f"#{old} was replaced by" in await kit.say(f"edit {old} run systemctl restart a on web1")
        assert "No #k99999 here" in await kit.say("edit k99999 run systemctl restart a on web1")


async def test_a_reply_brings_the_changed_request(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends, port=ScriptedPort(replies=True)) as kit:
        await kit.say(RESTART)
        old = kit.newest_id()
        await kit.press(kit.card, "Edit")
        await kit.say("run systemctl restart nginx on web1", reply_to=asking(kit, "Say it whole"))
        assert view_of(kit, old).replaced_by == kit.newest_id()


@pytest.mark.parametrize(
    "request_text",
    [
        "make me a sandwich",
        "tail the error log of caddy on web1 and restart it if it flaps",
        "run rm -rf / on web1",
        "run uptime on nowhere",
    ],
)
async def test_a_change_that_cannot_be_proposed_leaves_the_old_card(
    tmp_path: Path, request_text: str
) -> None:
    async with conversation(tmp_path, executor=Ends, port=with_forms()) as kit:
        await kit.say(RESTART)
        old = kit.newest_id()
        form = await kit.form(kit.card, "Edit")
        assert f"#{old} still waits as it was." in await kit.fill(form, request_text)
        assert kit.newest_id() == old
        assert kit.states() == ["waiting"]
        await kit.press(kit.card, "Approve")
        assert ran(kit) == ["systemctl restart caddy"]


async def test_who_neither_asked_nor_may_approve_cannot_change_it(tmp_path: Path) -> None:
    people = (person("ana"), person("bo", LITTLE))
    async with conversation(tmp_path, operators=people, executor=Ends, port=with_forms()) as kit:
        await kit.say(RESTART)
        old = kit.newest_id()
        form = await kit.form(kit.card, "Edit")
        for shown in (
            await kit.fill(form, "`systemctl restart nginx` on web1", by="bo"),
            await kit.say(f"edit {old} run systemctl restart nginx on web1", by="bo"),
        ):
            assert f"Only ana, who asked, or who may approve it can change #{old}." in shown
        assert kit.newest_id() == old
        assert kit.states() == ["waiting"]


async def test_who_changes_a_request_asks_for_it(tmp_path: Path) -> None:
    """Otherwise somebody could put words into the mouth of a requester whose yes then counts as a second."""
    people = (person("ana"), person("bo"))
    async with conversation(tmp_path, operators=people, executor=Ends, port=with_forms()) as kit:
        await kit.say(DELETE)
        await kit.say(f"edit {kit.newest_id()} run rm -rf /srv/y on web1", by="bo")
        assert view_of(kit).requester == "bo"
        await kit.say(f"approve {kit.newest_id()}", by="bo")
        await kit.say("delete /srv/y on web1", by="bo")
        assert kit.states() == ["waiting"]


# ---------------------------------------------------------------- private answers


async def test_wrong_presses_are_answered_privately(tmp_path: Path) -> None:
    people = (person("ana"), person("bo", LITTLE))
    async with conversation(tmp_path, operators=people, executor=Ends) as kit:
        await kit.say(RESTART)
        card, proposal = replace(kit.card), kit.newest_id()
        await kit.press(card, "Approve", by="mallory")
        assert kit.port.notes.pop() == ("mallory", "Only operators decide here. Nothing ran.")
        await kit.press(card, "Approve", by="bo")
        who, words = kit.port.notes.pop()
        assert who == "bo"
        assert "bo may not approve" in words
        await kit.press(card, "Approve")
        assert kit.port.notes == []
        kit.clock.advance(60)
        await kit.press(card, "Deny", by="bo")
        assert kit.port.notes.pop() == ("bo", f"#{proposal} was already approved by ana at 14:00.")
        unknown = replace(kit.inbound("", by="bo"), kind=InboundKind.CLICK, token="a.k99999.0123456789abcdef")
        await kit.send(unknown)
        assert kit.port.notes.pop() == (
            "bo",
            "That button belongs to nothing here. pending lists what waits.",
        )
        assert ran(kit) == ["systemctl restart caddy"]


async def test_a_bots_press_is_not_answered(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends) as kit:
        await kit.say(RESTART)
        pressed = kit.inbound("")
        pressed = replace(
            pressed,
            kind=InboundKind.CLICK,
            token=kit.card.token("Approve"),
            account=replace(pressed.account, is_bot=True),
        )
        assert await kit.send(pressed) == ""
        assert kit.states() == ["waiting"]


# ---------------------------------------------------------------- choices

UNCLEAR = "tail the error log of caddy on web1 and restart it if it flaps"


async def test_a_choice_is_dropped_by_its_button(tmp_path: Path) -> None:
    people = (person("ana"), person("bo"))
    async with conversation(tmp_path, operators=people, executor=Ends) as kit:
        await kit.say(UNCLEAR)
        card, first = kit.card, kit.card.message.buttons[0].label
        before = replace(card)  # as it looks on a screen that was not told yet
        assert labels(kit)[-1] == "Cancel"
        await kit.press(card, "Cancel", by="bo")
        assert kit.port.notes.pop() == ("bo", "That question is ana's.")
        await kit.press(card, first, by="bo")
        assert kit.port.notes.pop() == (
            "bo",
            "That question is ana's. Ask it anew to choose yourself.",
        )
        assert "Dropped. Nothing ran." in await kit.press(card, "Cancel")
        assert kit.kinds().count("clarification:cancelled") == 1
        assert card.message.buttons == ()
        for label in ("Cancel", first):
            await kit.press(before, label)
            assert "That choice is not open any more." in kit.port.notes.pop()[1]
        assert ran(kit) == []


async def test_a_pressed_option_must_be_one_that_was_offered(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends) as kit:
        await kit.say(UNCLEAR)
        real = kit.card.message.buttons[2].token
        name = tokens.parse(real)
        assert name is not None
        clarification = name.subject.partition(":")[0]
        for subject in (f"{clarification}:99", f"{clarification}:x", f"{clarification}:1"):
            forged = tokens.make(kit.core.token_key, choice=tokens.PICK, subject=subject, shown="another")
            await kit.send(replace(kit.inbound(""), kind=InboundKind.CLICK, token=forged))
            assert kit.port.notes.pop()[1] == "That button belongs to nothing here. Nothing ran."
        await kit.send(replace(kit.inbound(""), kind=InboundKind.CLICK, token=real))
        assert kit.states() == ["waiting"]


@pytest.mark.parametrize(("count", "buttons"), [(24, 25), (25, 1), (40, 1)])
async def test_more_options_than_buttons_fit_are_numbered_only(
    tmp_path: Path, count: int, buttons: int
) -> None:
    async with conversation(tmp_path, executor=Ends) as kit:
        inbound = kit.inbound("run uptime")
        outcome = kit.app.conversation._turns.nothing(inbound)
        operator = kit.core.find(inbound.account.key)
        assert operator is not None
        speaker = Speaker(operator=operator, said=inbound.text, event=inbound.event_id, zone=UTC)
        options = tuple(
            Option(label=f"host{number}", request=f"`uptime` on host{number}")
            for number in range(1, count + 1)
        )
        choosing._clarify(kit.core, outcome, speaker, Question(text="On which?", options=options))
        (effect,) = outcome.effects
        shown, made = text_of(effect.body["text"]).plain(), effect.body["buttons"]
        assert isinstance(made, list)
        assert len(made) == buttons
        assert f"{count}  host{count}" in shown
        assert ("Press one, or say its number or name." in shown) == (buttons > 1)
        assert "number or name." in shown
