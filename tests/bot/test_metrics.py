"""Metrics: what is scraped is what the ledger holds, goes back never, and tells nobody's words."""

import contextlib
import re
from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from bot import app, health
from bot.metrics import Metrics
from bot.origin import Origin
from bot.ports import Health
from bot.settings.config import load
from bot.settings.paths import Paths
from bot.timing import Timing, no_stopwatch
from gate.domain import RouteKind
from gate.policy import Policy
from ledger.kinds import Draft, Json, Kind
from tests.bot.test_digest import Ends
from tests.bot.test_health import SickPort
from tests.gate.makers import NOW
from tests.kit import Kit, ScriptedClock, ScriptedPort, conversation, open_ledger
from tests.ledger.entries.commitments import commitment_made, job_made, occurred
from tests.ledger.story import Story

ASK = "run systemctl restart caddy on web1"
Samples = dict[tuple[str, str], float]

#: Every word that a label may hold, beside the names of surfaces and the bounds of buckets.
WORDS = {
    *("allow", "clarify", "confirm", "deny", "cancelled", "committed", "denied", "clarify_unresolved"),
    *("clarify_expired", "granted", "refused", "expired", "superseded", "withdrawn", "succeeded", "failed"),
    *("lost", "queued", "started", "fired", "missed", "under_1m", "under_5m", "under_15m", "under_1h"),
    *("over_1h", "other", *RouteKind, *Origin),
}


def read(metrics: Metrics) -> Samples:
    """Return every sample by its name and the value of its one label."""
    body, form = metrics.page("")
    assert form.startswith("text/plain")
    found: Samples = {}
    for family in text_string_to_metric_families(body.decode()):
        for sample in family.samples:
            labels = sample.labels
            assert len(labels) <= 1, sample
            found[sample.name, next(iter(labels.values()), "")] = sample.value
    return found


class Watch:
    """A stopwatch for a core that is built before the metrics are."""

    def __init__(self) -> None:
        self.metrics: Metrics | None = None

    def __call__(self, timing: Timing) -> Callable[[], None]:
        return no_stopwatch(timing) if self.metrics is None else self.metrics.stopwatch(timing)


@contextlib.asynccontextmanager
async def measured(folder: Path, *, clock: ScriptedClock | None = None) -> AsyncIterator[tuple[Kit, Metrics]]:
    watch = Watch()
    policy = Policy(revision="r" * 64, nudge_s=0, escalate_s=0)  # a reminder would be counted too
    async with conversation(folder, executor=Ends, clock=clock, stopwatch=watch, policy=policy) as kit:
        watch.metrics = Metrics(kit.core.ledger, clock=kit.clock, file=folder / "health.json")
        kit.core.ledger.timed = lambda: watch(Timing.APPEND)
        yield kit, watch.metrics


async def tell(kit: Kit) -> None:
    """A day of work: yes, no, too late, another way, read-only, failed, lost, and nonsense."""
    await kit.say(ASK)
    await kit.say("go ahead")
    await kit.say(ASK)
    await kit.say("no")
    await kit.say("run systemctl restart broken on web1")
    await kit.say("go ahead")
    await kit.say("uptime of web1")
    await kit.say("rm -rf / on web1")
    await kit.say("run rm -rf / on web1")
    await kit.say(ASK)
    await kit.say("yes, but on web2")
    kit.clock.advance(7200)
    await kit.look()
    await kit.say("run touch /tmp/x lost on web1")
    await kit.say("go ahead")
    await kit.say("hello", by="mallory")


def in_ledger(kit: Kit, kind: Kind) -> int:
    row = kit.core.ledger.reader().execute("SELECT count(*) FROM entry WHERE kind=?", (kind,)).fetchone()
    return int(row[0])


async def test_counters_are_what_the_ledger_holds(tmp_path: Path) -> None:
    async with measured(tmp_path) as (kit, metrics):
        await tell(kit)
        found = read(metrics)
        for name, label, kind in (
            ("sayso_approvals_opened_total", "", Kind.APPROVAL_OPENED),
            ("sayso_approvals_total", "granted", Kind.APPROVAL_GRANTED),
            ("sayso_approvals_total", "refused", Kind.APPROVAL_REFUSED),
            ("sayso_approvals_total", "expired", Kind.APPROVAL_EXPIRED),
            ("sayso_approvals_total", "superseded", Kind.APPROVAL_SUPERSEDED),
            ("sayso_approvals_total", "withdrawn", Kind.APPROVAL_WITHDRAWN),
            ("sayso_actions_started_total", "", Kind.ACTION_STARTED),
            ("sayso_actions_total", "succeeded", Kind.ACTION_SUCCEEDED),
            ("sayso_actions_total", "failed", Kind.ACTION_FAILED),
            ("sayso_actions_total", "cancelled", Kind.ACTION_CANCELLED),
            ("sayso_actions_total", "lost", Kind.ACTION_LOST),
            ("sayso_actions_settled_total", "", Kind.ACTION_SETTLED),
            ("sayso_turns_total", "", Kind.TURN_RECEIVED),
            ("sayso_turns_crashed_total", "", Kind.TURN_CRASHED),
            ("sayso_requests_denied_total", "", Kind.REQUEST_DENIED),
        ):
            assert found[name, label] == in_ledger(kit, kind), name
        assert found["sayso_ledger_entries_total", ""] == kit.core.queries.entries()
        assert found["sayso_approvals_total", "granted"] == 3
        assert found["sayso_approvals_total", "refused"] == 1
        assert found["sayso_approvals_total", "expired"] == 1
        assert found["sayso_approvals_total", "superseded"] == 1
        assert found["sayso_actions_total", "lost"] == 1
        assert found["sayso_actions_now", "lost"] == 1
        assert found["sayso_actions_routed_total", "auto"] >= 1
        assert found["sayso_actions_routed_total", "approval"] == 6
        routed = sum(value for (name, _), value in found.items() if name == "sayso_actions_routed_total")
        assert found["sayso_actions_proposed_total", "person"] == routed
        assert found["sayso_actions_proposed_total", "agent"] == 0
        assert found["sayso_requests_denied_total", ""] >= 1


async def test_no_label_tells_who_or_what(tmp_path: Path) -> None:
    async with measured(tmp_path) as (kit, metrics):
        await tell(kit)
        await health.write(tmp_path / "health.json", [ScriptedPort("slack")], kit.clock)
        body = metrics.page("")[0].decode()
        surfaces = {"slack"}
        for name, label in read(metrics):
            known = name.endswith("_bucket") or name.startswith(("process_", "python_"))
            assert known or label in WORDS | surfaces | {""}, name
        for word in ("caddy", "web1", "ana", "mallory", "restart", "touch"):
            assert word not in body


async def test_counters_never_go_back(tmp_path: Path) -> None:
    """Not by a restart, and not by projections that are made anew."""
    clock = ScriptedClock()
    async with measured(tmp_path, clock=clock) as (kit, metrics):
        await tell(kit)
        before = read(metrics)
    async with measured(tmp_path, clock=clock) as (_, metrics):
        again = read(metrics)
    config = load(file=None, environ={}, flags=[], login="ana", paths=Paths(tmp_path))
    assert app.rebuild(config) > 0
    async with measured(tmp_path, clock=clock) as (_, metrics):
        rebuilt = read(metrics)
    counters = [key for key in before if key[0].endswith("_total") and key[0].startswith("sayso_")]
    assert len(counters) > 30
    for key in counters:
        assert before[key] <= again[key] <= rebuilt[key], key
    same = [key for key in counters if key[0] != "sayso_ledger_entries_total"]
    assert [before[key] for key in same] == [rebuilt[key] for key in same]


async def test_while_old_entries_are_counted_there_is_no_counter_that_is_too_low(tmp_path: Path) -> None:
    async with measured(tmp_path) as (kit, metrics):
        await tell(kit)
        with metrics._counts._mutex:  # as whoever counts at the start
            names = {name for name, _ in read(metrics)}
        assert "sayso_inbox_depth" in names
        assert not any(name.endswith("_total") for name in names if name.startswith("sayso_"))
        metrics.count()
        assert read(metrics)["sayso_turns_total", ""] > 0


# ---------------------------------------------------------------- acts other than commands


def ended(kind: Kind, commitment: str, **more: Json) -> Draft:
    return Draft(kind=kind, correlation_id=commitment, body={"commitment": commitment, **more})


def test_acts_are_counted_by_how_they_were_resolved_and_how_they_ended(tmp_path: Path) -> None:
    tale = Story.begin(tmp_path)
    metrics = Metrics(tale.ledger, clock=ScriptedClock(NOW), file=tmp_path / "none")
    tale.write(commitment_made("allow", commitment="m1"), ended(Kind.COMMITMENT_COMMITTED, "m1", how="done"))
    tale.write(commitment_made("deny", commitment="m2"))
    for name in ("m3", "m4", "m5", "m6"):
        tale.write(commitment_made("clarify", commitment=name))
    tale.write(ended(Kind.COMMITMENT_ABORTED, "m3", how="cancelled", by="ana"))
    tale.write(ended(Kind.COMMITMENT_ABORTED, "m4", how="pending_cap", by="agent"))
    tale.write(ended(Kind.COMMITMENT_EXPIRED, "m5", how="expired"))
    tale.write(ended(Kind.COMMITMENT_REVIVE_REFUSED, "m5", by="ana"))
    tale.write(commitment_made("confirm", commitment="m7"))
    found = read(metrics)
    tale.ledger.close()
    assert {
        word: count for (name, word), count in found.items() if name == "sayso_commitment_decisions_total"
    } == {
        "allow": 1,
        "clarify": 4,
        "confirm": 1,
        "deny": 1,
        "cancelled": 1,
    }
    assert {
        word: count for (name, word), count in found.items() if name == "sayso_commitment_terminal_total"
    } == {
        "committed": 1,
        "denied": 1,
        "cancelled": 1,
        "clarify_unresolved": 1,
        "clarify_expired": 1,
    }
    assert found["sayso_commitment_pending", ""] == 2
    assert found["sayso_commitment_late_answers_total", ""] == 1


def test_an_unheard_of_decision_is_no_label(tmp_path: Path) -> None:
    """An entry of a later sayso may hold any word."""
    tale = Story.begin(tmp_path)
    metrics = Metrics(tale.ledger, clock=ScriptedClock(NOW), file=tmp_path / "none")
    metrics._counts._tally.kinds[Kind.COMMITMENT_MADE, 'rm "x"'] = 3
    found = read(metrics)
    tale.ledger.close()
    assert found["sayso_commitment_decisions_total", "other"] == 3
    assert not [label for _, label in found if '"' in label]


def test_what_was_due_is_counted(tmp_path: Path) -> None:
    tale = Story.begin(tmp_path)
    metrics = Metrics(tale.ledger, clock=ScriptedClock(NOW), file=tmp_path / "none")
    assert read(metrics)["sayso_occurrences_total", "missed"] == 0
    tale.write(job_made(), occurred())
    tale.write(job_made("j2"), occurred("j2", is_missed=True))
    found = read(metrics)
    tale.ledger.close()
    assert (found["sayso_occurrences_total", "fired"], found["sayso_occurrences_total", "missed"]) == (1, 1)


# ---------------------------------------------------------------- what waits


async def test_what_waits_is_told_by_its_age(tmp_path: Path) -> None:
    async with measured(tmp_path) as (kit, metrics):
        for wait_s in (240, 60, 0):
            await kit.say(ASK, place=f"ops{wait_s}")
            kit.clock.advance(wait_s)
        found = read(metrics)
        ages = {label: count for (name, label), count in found.items() if name == "sayso_approvals_pending"}
        assert ages == {"under_1m": 1, "under_5m": 1, "under_15m": 1, "under_1h": 0, "over_1h": 0}
        assert found["sayso_approvals_oldest_seconds", ""] == 300
        assert (found["sayso_inbox_depth", ""], found["sayso_outbox_depth", ""]) == (0, 0)


async def test_surfaces_and_the_clock_are_told(tmp_path: Path) -> None:
    async with measured(tmp_path) as (kit, metrics):
        ports = [SickPort("slack", Health(ok=True)), SickPort("discord", Health(ok=False, detail="secret"))]
        await health.write(tmp_path / "health.json", ports, kit.clock)
        found = read(metrics)
        assert (found["sayso_adapter_up", "slack"], found["sayso_adapter_up", "discord"]) == (1, 0)
        assert found["sayso_clock_behind_seconds", ""] == 0
        assert found["sayso_start_time_seconds", ""] == kit.clock.now().timestamp()
        await kit.say("pending")
        kit.clock.instant -= timedelta(seconds=90)
        assert read(metrics)["sayso_clock_behind_seconds", ""] == 90


async def test_turns_their_wait_and_appends_are_timed(tmp_path: Path) -> None:
    async with measured(tmp_path) as (kit, metrics):
        await kit.say(ASK)
        await kit.press(kit.card, "Deny")
        before = read(metrics)
        assert before["sayso_turn_wait_seconds_count", ""] == 2
        assert before["sayso_gate_seconds_count", ""] == 2
        assert before["sayso_ledger_append_seconds_count", ""] >= 2
        await kit.say("pending")
        after = read(metrics)
        assert after["sayso_turn_wait_seconds_count", ""] == 3
        assert after["sayso_ledger_append_seconds_sum", ""] > before["sayso_ledger_append_seconds_sum", ""]


def test_without_metrics_nothing_is_timed() -> None:
    assert no_stopwatch(Timing.APPEND) is no_stopwatch(Timing.TURN)


@pytest.mark.parametrize("accept", ["", "text/plain", "application/openmetrics-text; version=1.0.0", "*/*"])
def test_a_scraper_gets_a_form_that_it_takes(tmp_path: Path, accept: str) -> None:
    ledger = open_ledger(tmp_path, ScriptedClock())
    body, form = Metrics(ledger, clock=ScriptedClock(), file=tmp_path / "none").page(accept)
    ledger.close()
    assert form.startswith("application/openmetrics-text" if "openmetrics" in accept else "text/plain")
    assert b"sayso_turns_total" in body
    assert b"_created" not in body


def test_every_metric_is_in_the_documents_and_nothing_else(tmp_path: Path) -> None:
    ledger = open_ledger(tmp_path, ScriptedClock())
    body, _ = Metrics(ledger, clock=ScriptedClock(), file=tmp_path / "none").page("")
    ledger.close()
    told = set(re.findall(r"^# TYPE (sayso_\w+)", body.decode(), re.MULTILINE))
    text = (Path(__file__).parents[2] / "docs" / "operations.md").read_text("utf-8")
    assert set(re.findall(r"^\| `(sayso_\w+)", text, re.MULTILINE)) == told
