"""The secrets that runs on record were given, or found: what nobody may be shown, in whatever process."""

from gate.supervise.binding import as_text
from gate.supervise.domain import RunId
from gate.supervise.events import Judged, Started
from ledger.queries import Queries


def secrets_of_runs(queries: Queries) -> tuple[str, ...]:
    """Return the secret values of every run; those whose words were pruned are gone from everywhere."""
    return tuple(value for run in queries.runs_with_secrets() for value in _of(queries, run))


def _of(queries: Queries, run: RunId) -> list[str]:
    spec = queries.run_spec(run)
    if spec is None:
        return []
    names = {name for name, item in spec.inputs.items() if item.secret}
    found = []
    for event in queries.run_events(run):
        if isinstance(event, Started):
            found += [as_text(value) for name, value in event.inputs.items() if name in names]
        elif isinstance(event, Judged) and event.captured is not None and event.captured[0] in names:
            found.append(event.captured[1])
    return found
