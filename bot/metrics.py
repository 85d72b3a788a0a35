"""Metrics: what Prometheus reads of a running sayso (K53, C24).

Counters are counts of the ledger, so they never go back, neither by a restart nor by rebuilt projections.
What waits is read when it is asked for; only the timings are of this process alone. No label holds an id, a
person, a command or anything that somebody said: labels are words out of the lists in here, and names of
surfaces. It decides nothing and writes nothing. docs/operations.md names every metric; `bot.scraping` serves
them.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from pathlib import Path

from prometheus_client import CollectorRegistry, Histogram, ProcessCollector, disable_created_metrics
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.exposition import choose_encoder
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from bot import health
from bot.origin import Origin
from bot.ports import Clock
from bot.timing import Timing
from gate.domain import RouteKind
from ledger.kinds import Kind
from ledger.store import Ledger
from ledger.tally import Tally, Waiting, waiting

_OTHER = "other"
_DECISIONS = ("allow", "clarify", "confirm", "deny")
#: How an act ends that waited and was not done; anything else that ends one was never resolved.
_CANCELLED = "cancelled"

#: What is asked for a yes, by how long ago: under so many seconds.
_AGES = {"under_1m": 60, "under_5m": 300, "under_15m": 900, "under_1h": 3600}
_OLDER = "over_1h"

_HISTOGRAMS = {
    Timing.TURN_WAIT: (
        "sayso_turn_wait_seconds",
        "From when a message was stored until its turn began.",
        (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60),
    ),
    Timing.TURN: (
        "sayso_gate_seconds",
        "Reading the facts of one message and deciding about it.",
        (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5),
    ),
    Timing.APPEND: (
        "sayso_ledger_append_seconds",
        "One decision, from handing it over until it is durable.",
        (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5),
    ),
}


class Metrics:
    """Everything that is told, as one registry.

    Args:
        file: where the running process writes how its surfaces are.
        now_s: seconds that only ever grow.
    """

    def __init__(
        self, ledger: Ledger, *, clock: Clock, file: Path, now_s: Callable[[], float] = time.perf_counter
    ) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]  # of the library
        self._now_s = now_s
        self._registry = CollectorRegistry()
        self._timings = {
            timing: Histogram(name, words, buckets=buckets, registry=self._registry)
            for timing, (name, words, buckets) in _HISTOGRAMS.items()
        }
        self._counts = _Counts(ledger)
        self._registry.register(self._counts)
        self._registry.register(_Gauges(ledger, clock=clock, file=file))
        ProcessCollector(registry=self._registry)

    def stopwatch(self, timing: Timing) -> Callable[[], None]:
        """Begin to time something, see `bot.timing`."""
        histogram, began = self._timings[timing], self._now_s()
        return lambda: histogram.observe(self._now_s() - began)

    def count(self) -> None:
        """Count what is in the ledger; slow the first time, so it is called before anybody asks."""
        self._counts.catch_up()

    def page(self, accept: str) -> tuple[bytes, str]:
        """Return what a scraper reads, in a form that it accepts, and the name of that form."""
        encode, content_type = choose_encoder(accept)
        return encode(self._registry), content_type


class _Counts(Collector):
    """Counters of the ledger; none of them while the old entries are still being counted."""

    def __init__(self, ledger: Ledger) -> None:
        self._tally = Tally(ledger.reader)
        self._mutex = threading.Lock()

    def describe(self) -> Iterable[Metric]:
        return ()  # the registry asks for names at once, and nothing is counted yet

    def catch_up(self) -> None:
        with self._mutex:
            self._tally.catch_up()

    def collect(self) -> Iterable[Metric]:
        # Whoever counts already needs a while at the start. A count that is too low would look like a reset.
        if not self._mutex.acquire(blocking=False):
            return
        try:
            self._tally.catch_up()
            found = list(_counters(self._tally))
        finally:
            self._mutex.release()
        yield from found


def _counters(tally: Tally) -> Iterable[Metric]:
    yield _plain("sayso_ledger_entries", "Entries in the ledger.", tally.seq)
    yield from _of_commitments(tally)
    yield _plain("sayso_approvals_opened", "Questions for a yes.", tally.of(Kind.APPROVAL_OPENED))
    yield _labelled("sayso_approvals", "Ends of questions for a yes.", "end", _ends(tally, _APPROVALS))
    yield _labelled(
        "sayso_actions_routed",
        "Proposed commands by what became of them before anybody was asked.",
        "route",
        _known(tally.routes, tuple(RouteKind)),
    )
    yield _labelled(
        "sayso_actions_proposed",
        "Proposed commands by what asked for them.",
        "origin",
        _by_origin(tally.origins),
    )
    yield _plain("sayso_actions_started", "Commands that were started.", tally.of(Kind.ACTION_STARTED))
    yield _labelled("sayso_actions", "Ends of commands.", "end", _ends(tally, _ACTIONS))
    yield _plain(
        "sayso_actions_settled", "Unknown ends that a person settled.", tally.of(Kind.ACTION_SETTLED)
    )
    yield _plain("sayso_turns", "Messages, presses and forms that were taken.", tally.of(Kind.TURN_RECEIVED))
    yield _plain("sayso_turns_crashed", "Turns that failed inside sayso.", tally.of(Kind.TURN_CRASHED))
    yield _plain("sayso_requests_denied", "Requests that were denied.", tally.of(Kind.REQUEST_DENIED))
    yield _labelled(
        "sayso_occurrences",
        "Reminders and scheduled commands that were due.",
        "end",
        _ends(tally, _OCCURRENCES),
    )


_APPROVALS = {
    "granted": Kind.APPROVAL_GRANTED,
    "refused": Kind.APPROVAL_REFUSED,
    "expired": Kind.APPROVAL_EXPIRED,
    "superseded": Kind.APPROVAL_SUPERSEDED,
    "withdrawn": Kind.APPROVAL_WITHDRAWN,
}
_ACTIONS = {
    "succeeded": Kind.ACTION_SUCCEEDED,
    "failed": Kind.ACTION_FAILED,
    "cancelled": Kind.ACTION_CANCELLED,
    "lost": Kind.ACTION_LOST,
}
_OCCURRENCES = {"fired": Kind.OCCURRENCE_CLAIMED, "missed": Kind.OCCURRENCE_MISSED}


def _of_commitments(tally: Tally) -> Iterable[Metric]:
    """Acts other than commands, under the names of K53."""
    made, again = tally.details(Kind.COMMITMENT_MADE), tally.details(Kind.COMMITMENT_CLARIFIED)
    decided = _known(Counter(made) + Counter(again), _DECISIONS)
    aborted = tally.of(Kind.COMMITMENT_ABORTED)
    cancelled = tally.details(Kind.COMMITMENT_ABORTED).get(_CANCELLED, 0)
    yield _labelled(
        "sayso_commitment_decisions",
        "Acts other than commands by how they were resolved, and those that were cancelled.",
        "decision",
        {**decided, "cancelled": cancelled},
    )
    yield _labelled(
        "sayso_commitment_terminal",
        "Acts other than commands by how they ended.",
        "decision",
        {
            "committed": tally.of(Kind.COMMITMENT_COMMITTED),
            "denied": decided["deny"],
            "cancelled": cancelled,
            "clarify_unresolved": aborted - cancelled,
            "clarify_expired": tally.of(Kind.COMMITMENT_EXPIRED),
        },
    )
    yield _plain(
        "sayso_commitment_late_answers",
        "Answers to an act that had expired; nothing was done.",
        tally.of(Kind.COMMITMENT_REVIVE_REFUSED),
    )


class _Gauges(Collector):
    """What waits, how old it is, how the surfaces and the clock are: of this moment."""

    def __init__(self, ledger: Ledger, *, clock: Clock, file: Path) -> None:
        self._ledger = ledger
        self._clock = clock
        self._file = file
        self._began_at = clock.now()

    def describe(self) -> Iterable[Metric]:
        return ()

    def collect(self) -> Iterable[Metric]:
        now, found = self._clock.now(), waiting(self._ledger.reader())
        ages = [max(0.0, (now - at).total_seconds()) for at in found.approvals]
        yield _gauges(
            "sayso_approvals_pending", "Open questions for a yes by their age.", "age", _by_age(ages)
        )
        yield _gauge(
            "sayso_approvals_oldest_seconds",
            "Age of the oldest open question; 0 for none.",
            max(ages, default=0),
        )
        yield _gauge(
            "sayso_commitment_pending", "Acts that wait for an answer or a phrase.", found.commitments
        )
        yield _gauges(
            "sayso_actions_now",
            "Commands that are queued, run, or whose end is unknown.",
            "state",
            {state.value: count for state, count in found.actions.items()},
        )
        yield _gauge("sayso_inbox_depth", "Messages that arrived and are not handled.", found.inbox)
        yield _gauge("sayso_outbox_depth", "Messages that are not shown yet.", found.outbox)
        yield _gauge(
            "sayso_clock_behind_seconds",
            "How far this clock is behind the newest entry; above 0 it went back.",
            _behind(found, now),
        )
        yield _gauges(
            "sayso_adapter_up",
            "Whether a surface is well.",
            "adapter",
            {name: int(one.ok) for name, one in health.read(self._file, now=now).items()},
        )
        yield _gauge(
            "sayso_start_time_seconds", "When this process began, in Unix time.", self._began_at.timestamp()
        )


def _by_age(ages: Iterable[float]) -> dict[str, float]:
    found: dict[str, float] = dict.fromkeys((*_AGES, _OLDER), 0)
    for age in ages:
        found[next((name for name, limit_s in _AGES.items() if age < limit_s), _OLDER)] += 1
    return found


def _behind(found: Waiting, now: datetime) -> float:
    return 0.0 if found.newest_at is None else max(0.0, (found.newest_at - now).total_seconds())


# ---------------------------------------------------------------- families


def _known(counts: Mapping[str, int], words: tuple[str, ...]) -> dict[str, int]:
    """Return counts by known words only: what an entry holds is never trusted to be a label."""
    found = {word: counts.get(word, 0) for word in words}
    if other := sum(counts.values()) - sum(found.values()):
        found[_OTHER] = other
    return found


def _by_origin(counts: Mapping[str, int]) -> dict[str, int]:
    """Return counts by origin; whatever is recorded that no machine is the source of, a person asked for."""
    found = {one.value: counts.get(one.value, 0) for one in Origin}
    found[Origin.PERSON] += sum(counts.values()) - sum(found.values())
    return found


def _ends(tally: Tally, kinds: Mapping[str, Kind]) -> dict[str, int]:
    return {word: tally.of(kind) for word, kind in kinds.items()}


def _plain(name: str, words: str, value: float) -> Metric:
    return CounterMetricFamily(name, words, value=value)


def _labelled(name: str, words: str, label: str, values: Mapping[str, float]) -> Metric:
    family = CounterMetricFamily(name, words, labels=[label])
    for word, value in values.items():
        family.add_metric([word], value)
    return family


def _gauge(name: str, words: str, value: float) -> Metric:
    return GaugeMetricFamily(name, words, value=value)


def _gauges(name: str, words: str, label: str, values: Mapping[str, float]) -> Metric:
    family = GaugeMetricFamily(name, words, labels=[label])
    for word, value in values.items():
        family.add_metric([word], value)
    return family
