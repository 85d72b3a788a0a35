"""Words about runs: what is one, and what is a command or something else."""

import pytest

from bot import control_words
from bot.commands import Cancel, PlanRun, Ref, RollBack, ShowRun, ShowRunbooks, ShowRuns, Stop, StopRun
from gate.domain import ProposalId


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("stop the run", StopRun()),
        ("Cancel this run!", StopRun()),
        ("sayso, abort the run please", StopRun()),
        ("stop run #k7f3a2", StopRun(run="k7f3a2")),
        ("stop", Stop()),
        ("cancel k7f3a2", Cancel(ref=Ref(proposal=ProposalId("k7f3a2")))),
        ("runs", ShowRuns()),
        ("show the runs", ShowRuns()),
        ("runbooks", ShowRunbooks()),
        ("run k7f3a2", ShowRun(run="k7f3a2", sure=False)),
        ("run #k7f3a2", ShowRun(run="k7f3a2", sure=True)),
        ("show run k7f3a2", ShowRun(run="k7f3a2", sure=True)),
        ("rollback k7f3a2", RollBack(run="k7f3a2")),
        ("roll back run K7F3A2.", RollBack(run="k7f3a2")),
        ("undo #abcdef", RollBack(run="abcdef")),
        ("plan provision-lxc on pve1 with vmid=120", PlanRun(request="provision-lxc on pve1 with vmid=120")),
    ],
)
def test_a_word_about_runs_is_read_as_a_whole(words: str, meant: object) -> None:
    assert control_words.parse(words) == meant


@pytest.mark.parametrize(
    "words",
    ["run uptime", "run reboot", "undo", "roll back", "rollback deploy", "plan", "run backup on web1"],
)
def test_other_words_are_none(words: str) -> None:
    assert control_words.parse(words) is None


def test_what_stops_a_run_counts_whatever_it_replies_to() -> None:
    assert control_words.names_its_own("stop the run")
    assert not control_words.names_its_own("runs")
