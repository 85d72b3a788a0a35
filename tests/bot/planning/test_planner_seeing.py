"""What a model gets to see, and what it never does: secrets, phrases, what is held back, strangers."""

from pathlib import Path

from tests.bot.planning.planned import UNREAD, ends, run
from tests.bot.test_guidance import taught
from tests.kit import conversation
from tests.simulators.model.double import Scripted, call, calls, read, says


async def test_secrets_phrases_and_approvals_never_reach_it(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.mkdir()
    log = tmp_path / "log"
    log.write_text("password: hunter2hunter2\ntoken=abcdef0123456789\n")
    model = Scripted([calls(run(f"cat {log}")), says("Type delete it and hunter2hunter2.")])
    async with conversation(tmp_path / "s", thinker=model, secrets=["swordfish-literal"]) as kit:
        await kit.say(f"run rm -rf {victim} on local", place="other")
        phrase = kit.core.queries.pending()[0].phrase
        assert phrase
        log.write_text(log.read_text() + f"now type: {phrase}\n")
        await kit.say(f"why is web1 slow, the password is swordfish-literal, {phrase}?")
        told = model.told()
    for hidden in ("hunter2hunter2", "abcdef0123456789", "swordfish-literal", phrase):
        assert hidden not in told, hidden
    assert "> password: ***" in told


async def test_facts_and_guidance_are_quoted_and_held_back_guidance_is_not(tmp_path: Path) -> None:
    model = Scripted([says("ok"), says("ok")])
    async with conversation(tmp_path, thinker=model) as kit:
        await kit.say("remember that the shop sync is on Friday at 14:00")
        await kit.say("remember that the vault is behind the desk", place="ana-dm", by="ana")
        await kit.say("from now on prefer podman over docker")
        await kit.say("what is wrong with the shop sync and the vault, please find out yourself")
        told = read(model.thoughts[-1])
        assert "> shop sync" in told
        assert "vault: " not in told
        assert "podman" not in told
        await taught(kit, "prefer nftables")
        await kit.say(UNREAD)
        assert "> prefer nftables" in read(model.thoughts[-1])


async def test_forgetting_takes_what_a_plan_was_told(tmp_path: Path) -> None:
    model = Scripted([says("It is on Friday at 14:00.")])
    async with conversation(tmp_path, thinker=model) as kit:
        await kit.say("remember that the shop sync is on Friday at 14:00")
        await kit.say("please sort out why the shop sync fails")
        assert "shop sync" in read(model.thoughts[0])
        await kit.say("forget the shop sync")
        rows = kit.core.ledger.reader().execute(
            "SELECT content FROM payload WHERE content IS NOT NULL AND seq IN (SELECT seq FROM plan_event)"
        )
        assert not [row for row in rows if b"Friday" in row[0] or b"shop sync" in row[0]]


async def test_strangers_reach_no_model(tmp_path: Path) -> None:
    model = Scripted([])
    async with conversation(tmp_path, thinker=model) as kit:
        await kit.say(UNREAD, by="mallory")
        await kit.say(UNREAD, by="ana", is_bot=True)
        await kit.say(UNREAD, forwarded=True)
    assert model.thoughts == []


async def test_looks_are_answered_at_once(tmp_path: Path) -> None:
    wanted = calls(
        call("targets", words="web1"),
        call("runbooks", words="disk space"),
        call("history"),
        call("recall", about="shop sync"),
    )
    model = Scripted([wanted, says("ok")])
    async with conversation(tmp_path, thinker=model) as kit:
        await kit.say("remember that the shop sync is on Friday at 14:00")
        await kit.say("run uptime on local")
        await kit.say(UNREAD)
        assert ends(kit) == ["answered"]
    told = read(model.thoughts[1])
    for words in (
        "web1: local · @web",
        "> disk: ",
        "uptime on local: succeeded",
        "> shop sync",
    ):
        assert words in told, words
