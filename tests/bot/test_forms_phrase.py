"""Forms: the phrase, typed into one or into a reply; who may send it, and what comes too late."""

from pathlib import Path

import pytest

from tests.bot.filling import DELETE, LITTLE, PHRASE, asking, ran, with_forms
from tests.bot.test_digest import Ends
from tests.kit import ScriptedPort, conversation, person

# ---------------------------------------------------------------- by a form


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


# ---------------------------------------------------------------- by a reply


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
