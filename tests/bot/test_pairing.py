"""Pairing: a code, asked for where nobody else listens, links one account to whoever asked for it."""

import asyncio
import re
from dataclasses import replace
from pathlib import Path

import pytest

from bot import deadlines
from bot.ports import Account
from gate.domain import PersonId
from gate.policy import Policy
from ledger.projections import TABLES, reset
from tests.bot.test_digest import Ends
from tests.kit import Kit, conversation, person

RESTART = "run systemctl restart caddy on web1"
DELETE = "run rm -rf /srv/x on web1"
#: The account that is to be linked, and one of somebody who guesses.
NEW, GUESSER = "phone", "mallory"


async def ask(kit: Kit, *, by: str = "ana") -> str:
    """Ask for a code in a direct message and return it."""
    shown = await kit.say("pair", by=by, place=f"dm-{by}", direct=True)
    found = re.search(r"pair (\w{4}-\w{4})", shown)
    assert found is not None, shown
    return found[1]


async def send(
    kit: Kit, code: str, *, by: str = NEW, direct: bool = True, words: str = "pair {}", **changes: object
) -> str:
    said = words.format(code)
    return await kit.say(said, by=by, place=f"dm-{by}", direct=direct, **changes)  # type: ignore[arg-type]


def who(kit: Kit, account: str = NEW) -> str | None:
    found = kit.core.find(f"script::{account}")
    return None if found is None else found.id


def wrong(code: str, number: int = 0) -> str:
    return f"ZZZZ-ZZZ{'23456789'[number]}" if code != f"ZZZZ-ZZZ{'23456789'[number]}" else "YYYY-YYYY"


def tables(kit: Kit) -> dict[str, list[tuple[object, ...]]]:
    reader = kit.core.ledger.reader()
    return {name: reader.execute(f"SELECT * FROM {name} ORDER BY 1, 2").fetchall() for name in TABLES}


# ---------------------------------------------------------------- offering


async def test_a_code_is_shown_only_where_nobody_else_reads(tmp_path: Path) -> None:
    async with conversation(tmp_path) as kit:
        assert "Ask for a code where nobody else reads" in await kit.say("pair")
        assert kit.core.queries.pairings() == ()
        shown = await kit.say("pair", direct=True)
        assert "Good once, until 14:10, for ana." in shown
        assert len(kit.core.queries.pairings()) == 1


async def test_a_code_is_never_recorded(tmp_path: Path) -> None:
    async with conversation(tmp_path) as kit:
        code = (await ask(kit)).replace("-", "")
        bodies = kit.core.ledger.reader().execute("SELECT group_concat(body) FROM entry").fetchone()[0]
        assert code not in bodies.replace("-", "")


async def test_a_stranger_is_offered_no_code(tmp_path: Path) -> None:
    async with conversation(tmp_path) as kit:
        assert await kit.say("pair", by=GUESSER, direct=True) == ""
        assert kit.core.queries.pairings() == ()


async def test_a_new_code_ends_the_older_one(tmp_path: Path) -> None:
    async with conversation(tmp_path) as kit:
        old = await ask(kit)
        new = await ask(kit)
        assert "That is not the code." in await send(kit, old)
        assert "this account is ana from now on" in await send(kit, new)


# ---------------------------------------------------------------- linking


@pytest.mark.parametrize("words", ["pair {}", "/pair {}", "  PAIR   {}. ", "pair {}!"])
async def test_the_code_links_the_account_that_sends_it(tmp_path: Path, words: str) -> None:
    async with conversation(tmp_path, executor=Ends) as kit:
        code = await ask(kit)
        assert who(kit) is None
        shown = await send(kit, code.lower(), words=words)
        assert "Linked: this account is ana from now on." in shown
        assert "unpair script::phone" in shown
        assert who(kit) == "ana"
        await kit.say("run uptime on web1", by=NEW)
        assert kit.core.executor.ran == ["uptime"]  # type: ignore[attr-defined] # Ends


async def test_whose_code_it_was_is_told_of_the_account(tmp_path: Path) -> None:
    """Whoever uses a code that leaked will not tell."""
    async with conversation(tmp_path) as kit:
        code = await ask(kit)
        account = Account(platform="script", user=NEW, display=f"Mallory\nM{'x' * 99}")
        await send(kit, code, account=account)
        told = [one.text for one in kit.port.screen.values() if one.ref.place.channel == "dm-ana"][-1]
        assert told.startswith(
            "script::phone (Mallory Mxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx) was linked to ana by that code."
        )
        await kit.say("unpair script::phone", place="dm-ana")
        assert who(kit) is None


async def test_a_code_is_good_once(tmp_path: Path) -> None:
    async with conversation(tmp_path) as kit:
        code = await ask(kit)
        await send(kit, code)
        assert await send(kit, code, by=GUESSER) == ""
        assert who(kit, GUESSER) is None


async def test_of_two_accounts_that_race_one_is_linked(tmp_path: Path) -> None:
    async with conversation(tmp_path) as kit:
        code = await ask(kit)
        await asyncio.gather(send(kit, code, by="one"), send(kit, code, by="two"))
        assert sorted([who(kit, "one") or "", who(kit, "two") or ""]) == ["", "ana"]
        assert kit.kinds().count("account:paired") == 1


@pytest.mark.parametrize("late_s", [600, 601])
async def test_a_code_is_good_for_ten_minutes(tmp_path: Path, late_s: int) -> None:
    async with conversation(tmp_path) as kit:
        code = await ask(kit)
        kit.clock.advance(late_s)
        assert await send(kit, code) == ""
        assert who(kit) is None


async def test_the_last_second_of_a_code_counts(tmp_path: Path) -> None:
    async with conversation(tmp_path) as kit:
        code = await ask(kit)
        kit.clock.advance(599)
        await send(kit, code)
        assert who(kit) == "ana"


async def test_a_code_ends_by_itself(tmp_path: Path) -> None:
    async with conversation(tmp_path) as kit:
        await ask(kit)
        (pairing,) = kit.core.queries.pairings()
        assert deadlines.next_due(kit.core) == pairing.deadline_at
        kit.clock.advance(599)
        await kit.look()
        assert kit.core.queries.pairings() == (pairing,)
        kit.clock.advance(1)
        await kit.look()
        assert kit.core.queries.pairings() == ()
        assert deadlines.next_due(kit.core) is None
        await kit.look()
        assert kit.kinds().count("pairing:ended") == 1


async def test_a_bot_is_linked_to_nobody(tmp_path: Path) -> None:
    async with conversation(tmp_path) as kit:
        code = await ask(kit)
        await kit.say(f"pair {code}", by=NEW, direct=True, is_bot=True)
        assert who(kit) is None


async def test_five_wrong_guesses_end_every_open_code(tmp_path: Path) -> None:
    people = (person("ana"), person("bo"))
    async with conversation(tmp_path, operators=people) as kit:
        codes = [await ask(kit, by="ana"), await ask(kit, by="bo")]
        for number in range(4):
            assert await send(kit, wrong(codes[0], number), by=f"m{number}") == "That is not the code."
        assert len(kit.core.queries.pairings()) == 2
        assert await send(kit, wrong(codes[0], 4), by=GUESSER) == "That is not the code. Ask for a new one."
        assert kit.core.queries.pairings() == ()
        for code in codes:
            assert await send(kit, code) == ""
        assert who(kit) is None
        await send(kit, await ask(kit))
        assert who(kit) == "ana"


async def test_while_no_code_is_open_a_guess_is_not_even_answered(tmp_path: Path) -> None:
    async with conversation(tmp_path) as kit:
        assert await send(kit, "ZZZZ-ZZZZ") == ""
        assert "pairing:missed" not in kit.kinds()


async def test_what_a_stranger_guessed_is_not_kept(tmp_path: Path) -> None:
    async with conversation(tmp_path) as kit:
        await ask(kit)
        await send(kit, "ZZZZ-ZZZZ")
        reader = kit.core.ledger.reader()
        kept = reader.execute("SELECT group_concat(CAST(content AS TEXT)) FROM payload").fetchone()[0]
        assert "ZZZZ" not in (kept or "")


# ---------------------------------------------------------------- who it is then


async def test_a_linked_account_is_the_same_person(tmp_path: Path) -> None:
    """A second account is no second person: neither for a quorum nor for a phrase."""
    people = (person("ana"), person("bo"))
    policy = Policy(revision="r" * 64, quorum=(("config_mutation", 2),))
    async with conversation(tmp_path, operators=people, policy=policy, executor=Ends) as kit:
        await send(kit, await ask(kit))
        await kit.say("run apt-get install -y jq on web1")
        for by in ("ana", NEW):
            await kit.say(f"approve {kit.newest_id()}", by=by)
            assert kit.states() == ["waiting"]
        await kit.say(f"approve {kit.newest_id()}", by="bo")
        assert kit.states() == ["succeeded"]
        await kit.say(DELETE)
        await kit.say("delete /srv/x on web1", by=NEW)
        await kit.say(f"approve {kit.newest_id()}", by=NEW)
        assert kit.states() == ["waiting"]


async def test_accounts_are_listed_and_unlinked_by_their_person_only(tmp_path: Path) -> None:
    people = (person("ana"), person("bo"))
    async with conversation(tmp_path, operators=people) as kit:
        await send(kit, await ask(kit))
        shown = await kit.say("accounts")
        assert "script::ana   from the config" in shown
        assert "script::phone   linked by a code; unpair script::phone unlinks it" in shown
        assert "No linked account script::phone of yours" in await kit.say("unpair script::phone", by="bo")
        assert "No linked account script::ana of yours" in await kit.say("unpair script::ana")
        assert who(kit) == "ana"
        assert "Unlinked script::phone. It is nobody's now." in await kit.say("unpair script::phone")
        assert who(kit) is None
        assert await kit.say(RESTART, by=NEW) == ""


async def test_a_linked_account_can_unlink_itself(tmp_path: Path) -> None:
    async with conversation(tmp_path) as kit:
        await send(kit, await ask(kit))
        await kit.say("unpair script::phone", by=NEW)
        assert who(kit) is None


async def test_the_account_of_a_person_who_left_is_a_strangers(tmp_path: Path) -> None:
    people = (person("ana"), person("bo"))
    async with conversation(tmp_path, operators=people, executor=Ends) as kit:
        await send(kit, await ask(kit, by="bo"))
        assert who(kit) == "bo"
    async with conversation(tmp_path, operators=people[:1], executor=Ends, clock=kit.clock) as kit:
        assert kit.core.queries.paired("script::phone") == PersonId("bo")
        assert who(kit) is None
        assert await kit.say("run uptime on web1", by=NEW) == ""
        assert kit.core.executor.ran == []  # type: ignore[attr-defined] # Ends
        await send(kit, await ask(kit))
        assert who(kit) == "ana"


async def test_the_config_says_whose_an_account_is_before_any_code(tmp_path: Path) -> None:
    people = (person("ana"), person("bo"))
    async with conversation(tmp_path, operators=people) as kit:
        await send(kit, await ask(kit))
    named = replace(people[1], accounts=(*people[1].accounts, "script::phone"))
    async with conversation(tmp_path, operators=(people[0], named), clock=kit.clock) as kit:
        assert who(kit) == "bo"


async def test_an_account_of_another_tenant_is_another_account(tmp_path: Path) -> None:
    async with conversation(tmp_path) as kit:
        await send(kit, await ask(kit))
        assert kit.core.find(Account(platform="script", tenant="t2", user=NEW).key) is None


async def test_a_rebuild_gives_the_same_accounts(tmp_path: Path) -> None:
    async with conversation(tmp_path) as kit:
        await send(kit, await ask(kit))
        await send(kit, await ask(kit), by="tablet")
        await kit.say("unpair script::tablet")
        await ask(kit)
        await send(kit, "ZZZZ-ZZZZ", by=GUESSER)
        before = tables(kit)
        assert before["account"]
        assert before["pairing"]
        assert kit.core.ledger.rebuild(reset) == kit.core.ledger.head().seq
        assert tables(kit) == before


# ---------------------------------------------------------------- said where others read


@pytest.mark.parametrize("by", [NEW, "kim", "ana"])
async def test_a_code_that_is_said_where_others_read_is_over(tmp_path: Path, by: str) -> None:
    async with conversation(tmp_path, operators=(person("ana"), person("kim"))) as kit:
        code = await ask(kit)
        told = await kit.say(f"pair {code}", by=by, addressed=False)
        assert told.count("That code was said where others read, so it is over. Nothing was linked.") == 2
        assert kit.core.queries.pairings() == ()
        assert await send(kit, code, by=GUESSER) == ""
        assert who(kit, GUESSER) is None


async def test_a_wrong_code_among_people_is_talk(tmp_path: Path) -> None:
    async with conversation(tmp_path) as kit:
        code = await ask(kit)
        kinds = kit.kinds()
        assert await kit.say(f"pair {wrong(code)}", by=NEW, addressed=False) == ""
        assert kit.kinds() == kinds
        assert "Linked" in await send(kit, code)


async def test_an_account_that_is_somebodys_already_is_told_so(tmp_path: Path) -> None:
    async with conversation(tmp_path, operators=(person("ana"), person("kim"))) as kit:
        code = await ask(kit)
        told = await send(kit, code, by="kim")
        assert told == "This account is kim's already. Nothing changed; the code is still good."
        assert "Linked" in await send(kit, code)


async def test_a_code_is_kept_nowhere(tmp_path: Path) -> None:
    async with conversation(tmp_path) as kit:
        code = await ask(kit)
        await send(kit, wrong(code))
        await send(kit, code)
        assert who(kit) == "ana"
        reader = kit.core.ledger.reader()
        kept = [
            row
            for table in ("entry", "payload", "inbox", "outbox")
            for row in reader.execute(f"SELECT * FROM {table}")
            if code in str(tuple(row))
        ]
        assert kept == []
