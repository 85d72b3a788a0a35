"""A model that fails, or answers what cannot be read: it is said, and nothing runs from it."""

from pathlib import Path

import pytest

from bot.planning.model.thinking import Answered, Call, ThinkerError
from bot.planning.model.wanting import MAX_CALLS
from ledger.kinds import Kind
from tests.bot.planning.planned import UNREAD, Failing, ends, run
from tests.kit import conversation
from tests.simulators.model.double import Scripted, calls, read, says


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ThinkerError("it cannot be reached"), "gave no answer: it cannot be reached."),
        (TimeoutError(), "did not answer within 90 s."),
        (RuntimeError("a secret"), "gave no answer that can be read (RuntimeError)."),
    ],
)
async def test_a_model_that_fails_is_said_and_nothing_runs(
    tmp_path: Path, error: Exception, words: str
) -> None:
    model = Failing(error)
    async with conversation(tmp_path, thinker=model) as kit:
        shown = await kit.say(UNREAD)
        assert words in shown
        assert "Nothing ran from this." in shown
        assert ends(kit) == ["model_failed"]
    assert model.calls == 1


@pytest.mark.parametrize(
    "answer",
    [
        Answered(),
        says("   \n"),
        Answered(text="x" * 300_000),
        calls(*[run("uptime")] * (MAX_CALLS + 1)),
    ],
    ids=["nothing", "blanks", "far too much", "too many calls"],
)
async def test_an_answer_that_is_none_is_said(tmp_path: Path, answer: Answered) -> None:
    async with conversation(tmp_path, thinker=Scripted([answer])) as kit:
        shown = await kit.say(UNREAD)
        assert "Nothing ran from" in shown
        assert ends(kit) != ["answered"]
        assert Kind.PROPOSAL_MADE not in kit.kinds()


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ("{", "no JSON"),
        ("[]", "no JSON object"),
        ('{"target": "local"}', "lacks command"),
        ('{"target": "local", "command": ["ls"], "purpose": "x"}', "command has to be text"),
        ('{"target": "local", "command": "ls", "purpose": "x", "sudo": "yes"}', "takes no sudo"),
        ('{"target": "local", "command": "ls", "purpose": "  "}', "lacks purpose"),
        ('{"x": "' + "y" * 9000 + '"}', "longer than"),
    ],
)
async def test_a_call_that_cannot_be_read_goes_back_to_the_model(
    tmp_path: Path, args: str, words: str
) -> None:
    wrong = Answered(calls=(Call(id="c0", tool="run", args=args),))
    model = Scripted([wrong, says("I give up.")])
    async with conversation(tmp_path, thinker=model) as kit:
        assert "I give up." in await kit.say(UNREAD)
    assert words in read(model.thoughts[1])


async def test_nothing_but_rubbish_ends_the_plan(tmp_path: Path) -> None:
    wrong = Answered(calls=(Call(id="c0", tool="run", args="{"),))
    model = Scripted([wrong] * 10)
    async with conversation(tmp_path, thinker=model) as kit:
        assert "keeps asking for what cannot be read" in await kit.say(UNREAD)
        assert ends(kit) == ["rubbish"]
    assert len(model.thoughts) == 3


async def test_what_no_encoding_holds_is_kept_as_well_as_it_can_be(tmp_path: Path) -> None:
    async with conversation(tmp_path, thinker=Scripted([says("half \ud800 a pair")])) as kit:
        assert "half" in await kit.say(UNREAD)
        assert ends(kit) == ["answered"]
