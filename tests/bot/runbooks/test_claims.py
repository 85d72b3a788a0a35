"""What a report claims against its entries: a lie is found even where every hash was made anew."""

from collections.abc import Callable

import pytest

from tests.bot.runbooks.attesting import Whole, made, made_anew, problems
from tests.bot.runbooks.made import wrote
from tests.ledger.story import Story


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Story:
    return wrote(tmp_path_factory.mktemp("ledger"))


def other_exit_code(whole: Whole) -> None:
    whole["report"]["entries"][1]["exit_code"] = 7


def other_decider(whole: Whole) -> None:
    whole["report"]["entries"][1]["decided_by"] = "eve"


def nobody_decided(whole: Whole) -> None:
    whole["report"]["entries"][1]["decided_by"] = None


def other_step(whole: Whole) -> None:
    whole["report"]["entries"][1]["step"] = "look"


def another_entry(whole: Whole) -> None:
    whole["report"]["entries"].append(dict(whole["report"]["entries"][1], number=3))


def another_target(whole: Whole) -> None:
    whole["report"]["target"] = "web2"


def fewer_deviations(whole: Whole) -> None:
    del whole["report"]["deviations"][0]


def end_that_nobody_recorded(whole: Whole) -> None:
    del whole["entries"][-1]


def result_that_nobody_recorded(whole: Whole) -> None:
    whole["entries"] = [one for one in whole["entries"] if one["kind"] != "run:judged"]


def entry_that_holds_no_facts(whole: Whole) -> None:
    next(one for one in whole["entries"] if one["seq"] == 17)["body"] = "[1]"


@pytest.mark.parametrize(
    ("tamper", "wanted"),
    [
        (other_exit_code, "The report says exit_code 7 of step 2, and entry 17 says 0."),
        (other_decider, "The report says that eve decided step 2, and the entries ana."),
        (nobody_decided, "The report says that nobody decided step 2, and the entries ana."),
        (other_step, "The report says that step 2 is look, and the entries restart."),
        (another_entry, "The report says that step 3 is restart, and the entries nothing."),
        (another_target, "The report says target web2, and entry 1 says web1."),
        (fewer_deviations, "The report tells 0 deviations, and the entries 1."),
        (end_that_nobody_recorded, "The report says completed, and no entry that the run ended."),
        (result_that_nobody_recorded, "The report says that step 2 passed, and no entry what came of it."),
        (entry_that_holds_no_facts, "Entry 17 (run:judged) holds no facts."),
    ],
)
def test_a_report_that_says_something_else_than_its_entries_is_found_even_if_all_was_made_anew(
    story: Story, tamper: Callable[[Whole], None], wanted: str
) -> None:
    whole = made(story, None)
    tamper(whole)
    assert wanted in problems(made_anew(whole))
