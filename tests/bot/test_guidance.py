"""Guidance for whatever plans: only what counts, and a quote that nothing in it can close."""

from datetime import UTC
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from bot.guidance import END, FENCE, MARK, fenced, in_use, quoted
from tests.bot.test_digest import Ends
from tests.kit import Kit, conversation, person

LINES = st.one_of(
    st.text(max_size=80),
    st.sampled_from(
        [FENCE, END, f"\n{END}\n", f"{MARK}{END}", f"a\r{END}", f"\u2028{END}", "```", f"x\x85{END}\x85"]
    ),
    st.tuples(st.text(max_size=10), st.sampled_from([END, FENCE]), st.text(max_size=10)).map("".join),
)


@given(st.lists(LINES, max_size=6))
def test_nothing_closes_the_quote(texts: list[str]) -> None:
    block = fenced(texts)
    if not texts:
        assert block == ""
        return
    lines = block.splitlines()  # every kind of line break that there is
    assert lines[0] == FENCE
    assert lines[-1] == END
    first = next(index for index, line in enumerate(lines) if line.startswith(MARK))
    assert all(line.startswith(MARK) for line in lines[first:-1])
    assert not any(line in (FENCE, END) for line in lines[1:-1])
    assert len(lines) - first - 1 >= len(texts)


async def taught(kit: Kit, text: str, *, confirm: bool = True) -> str:
    """Teach something as one operator does, and return its id."""
    shown = await kit.say(f"from now on, {text}")
    assert "Held as #" in shown, shown
    name = shown.partition("#")[2][:6]
    if confirm:
        asked = await kit.say(f"guidance confirm {name}")
        assert f"#{name} counts from now on" in await kit.say(asked.rpartition("Type:  ")[2])
    return name


async def test_only_what_was_confirmed_counts(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends) as kit:
        assert quoted(kit.core) == ""
        await taught(kit, "be brief", confirm=False)
        assert quoted(kit.core) == ""
        name = await taught(kit, "prefer podman")
        assert quoted(kit.core).splitlines()[-2:] == ["> prefer podman", END]
        assert "be brief" not in quoted(kit.core)
        assert f"#{name} is gone" in await kit.say(f"guidance reject {name}, it is wrong")
        assert quoted(kit.core) == ""


async def test_the_off_switch_is_read_live(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends) as kit:
        await taught(kit, "prefer podman")
        await kit.say("set guidance.enabled to false")
        assert quoted(kit.core) == ""
        assert "guidance.enabled is off" in await kit.say("guidance")
        await kit.say("unset guidance.enabled")
        assert "prefer podman" in quoted(kit.core)


async def test_what_counts_is_judged_by_the_rules_of_now(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends) as kit:
        await taught(kit, "use tr0ub4dor for the wiki")
    async with conversation(tmp_path, executor=Ends, secrets=("tr0ub4dor",)) as kit:
        assert in_use(kit.core) == ()
        assert "tr0ub4dor" not in await kit.say("guidance")


async def test_a_clock_that_runs_backwards_applies_nothing(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends) as kit:
        await taught(kit, "prefer podman")
        kit.clock.advance(-60)
        assert in_use(kit.core) == ()


async def test_forgotten_words_count_for_nothing(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends) as kit:
        await taught(kit, "prefer podman")
        kit.clock.advance(60)
        kit.core.ledger.prune(before=kit.core.now().astimezone(UTC))
        assert in_use(kit.core) == ()


async def test_a_second_person_confirms(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends, operators=(person("ana"), person("bo"))) as kit:
        name = await taught(kit, "prefer podman", confirm=False)
        asked = await kit.say(f"confirm guidance #{name}")
        phrase = asked.rpartition("types:  ")[2]
        assert "Another person has to type it" in await kit.say(phrase)
        assert quoted(kit.core) == ""
        await kit.say(phrase, by="bo")
        assert [one.text for one in in_use(kit.core)] == ["prefer podman"]
        assert "counts, confirmed by bo" in await kit.say("what were you taught?")


async def test_what_was_rejected_meanwhile_is_not_confirmed(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends) as kit:
        name = await taught(kit, "prefer podman", confirm=False)
        asked = await kit.say(f"guidance confirm {name}")
        await kit.say(f"reject guidance {name}")
        assert "does not wait any more. Nothing changed." in await kit.say(asked.rpartition("  ")[2])
        assert quoted(kit.core) == ""
        assert "No instruction" in await kit.say(f"guidance reject {name}")


async def test_every_change_is_one_entry_with_its_words_apart(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends) as kit:
        name = await taught(kit, "prefer podman")
        await kit.say(f"guidance reject {name} because docker is back")
        kinds = [one for one in kit.kinds() if one.startswith("guidance:")]
        assert kinds == ["guidance:held", "guidance:confirmed", "guidance:rejected"]
        rows = (
            kit.core.ledger.reader().execute("SELECT body FROM entry WHERE kind LIKE 'guidance:%'").fetchall()
        )
        assert not any("podman" in row[0] or "docker" in row[0] for row in rows)
