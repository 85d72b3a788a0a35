"""Forms: a request that is changed replaces its card, or leaves it as it was; who may change it."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.bot.filling import DELETE, LITTLE, RESTART, asking, ran, view_of, with_forms
from tests.bot.test_digest import Ends
from tests.kit import ScriptedPort, conversation, person


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
