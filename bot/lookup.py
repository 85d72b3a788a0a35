"""Looking at a ledger from outside, while another process may be writing it: status and approvals.

Reads only; takes no lock. For `sayso status`, `sayso approvals` and `sayso jobs`.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from zoneinfo import ZoneInfo

from bot import health
from bot.clock import SystemClock
from bot.core import strictest_posture
from bot.fanout.naming import several
from bot.known_secrets import KnownSecrets
from bot.ports import Clock
from bot.runbooks.hidden import secrets_of_runs
from bot.runtime import said_at_run_time
from bot.settings.config import Config
from bot.settings.live import Settings
from gate.domain import ProposalId
from gate.lifecycle import ActionState
from gate.policy import Posture
from gate.redact import redact, redact_command
from gate.resolve.decision import Act
from ledger.engine import LedgerMissingError, open_reader, writer_pid
from ledger.guidance import GuidanceState, GuidanceView
from ledger.jobs import JobView
from ledger.queries import Queries
from ledger.trusting import TrustRuleView
from ledger.views import ActionView, ProposalView


@contextmanager
def queries(config: Config) -> Iterator[Queries | None]:
    """Give questions to the ledger of `config`; None where there is none yet."""
    try:
        connection: sqlite3.Connection = open_reader(config.paths.ledger)
    except LedgerMissingError:
        yield None
        return
    with closing(connection):
        yield Queries(lambda: connection)


def settings(config: Config) -> Settings:
    """Return every setting as it counts now, what was set at run time included."""
    with queries(config) as asked:
        said = {} if asked is None else said_at_run_time(asked)
    return Settings(start=config.layers, runtime=lambda: said)


def status(config: Config, *, clock: Clock | None = None) -> dict[str, object]:
    """Return how sayso is, for people and scripts."""
    pid = writer_pid(config.paths.ledger)
    found: dict[str, object] = {
        "running": pid is not None,
        "pid": pid,
        "state": str(config.paths.state),
        "posture": config.policy.posture.value,
    }
    if pid is not None:
        found |= _surfaces(config, clock or SystemClock())
    with queries(config) as asked:
        if asked is None:
            return {**found, "ledger": "none yet; it is made at the first start"}
        switches = asked.switches()
        return {
            **found,
            "posture": _posture(config, asked),
            "stopped": switches.stopped or config.floor.stopped,
            "auto_off": switches.auto_off or config.floor.auto_off,
            "waiting": len({one.proposal for one in asked.pending()}),
            **_started(len(asked.in_state(ActionState.STARTED)), is_running=pid is not None),
            "unknown_ends": sum(one.freezes for one in asked.in_state(ActionState.LOST)),
            "frozen": list(asked.frozen()),
            "entries": asked.entries(),
        }


def _surfaces(config: Config, clock: Clock) -> dict[str, object]:
    """Return how each surface of the running process is, in a line each."""
    found: dict[str, object] = {}
    for name, one in health.read(config.paths.health, now=clock.now()).items():
        facts = [f"{fact} {value}" for fact, value in one.facts]
        found[name] = " · ".join(["ok" if one.ok else "NOT OK", *filter(None, [one.detail]), *facts])
    return found


def _started(count: int, *, is_running: bool) -> dict[str, object]:
    """Return how many actions run; with sayso down nobody knows, and the next start tells (P7)."""
    if is_running or not count:
        return {"running_actions": count}
    return {
        "running_actions": 0,
        "open_ends": f"{count} started, end not recorded yet (sayso is not running)",
    }


def _posture(config: Config, asked: Queries) -> str:
    """Return the posture in force: what was switched at run time, never below what the owner set."""
    owners, chosen = config.policy.posture, asked.switch_values().get("posture")
    if chosen is None:
        return owners.value
    switched = Posture(str(chosen))
    if config.values["policy.posture"].is_set:
        switched = strictest_posture(switched, owners)
    return switched.value


def approvals(config: Config) -> list[dict[str, object]]:
    """Return what waits for a yes, oldest first."""
    with queries(config) as asked:
        if asked is None:
            return []
        hidden = hidden_in(asked)
        views = (asked.proposal(one) for one in asked.unfinished())
        return [_short(view, hidden) for view in views if view is not None and view.pending]


def approval(config: Config, name: str) -> dict[str, object] | None:
    """Return one proposal, live or decided; None where nothing has that id."""
    with queries(config) as asked:
        view = None if asked is None else asked.proposal(ProposalId(name.removeprefix("#").lower()))
        if asked is None or view is None:
            return None
        hidden = hidden_in(asked)
        return {
            **_short(view, hidden),
            "source": view.source,
            "purpose": redact(view.purpose, extra=hidden).text,
            "replaced_by": view.replaced_by,
            "actions": [_action(one, hidden) for one in view.actions],
        }


def hidden_in(asked: Queries) -> KnownSecrets:
    """Return what is masked beside what looks like a secret: the config holds none itself (D24)."""
    known = KnownSecrets()
    known.learn(secrets_of_runs(asked))
    return known


def trust_rules(config: Config, *, clock: Clock | None = None) -> list[dict[str, object]]:
    """Return the trust rules that count, oldest first."""
    now = (clock or SystemClock()).now()
    with queries(config) as asked:
        found = () if asked is None else asked.trust_rules()
        return [_trusted(one) for one in found if one.rule.lasts(now)]


def _trusted(one: TrustRuleView) -> dict[str, object]:
    return {
        "id": one.rule.id,
        "command": redact_command(one.command).text,
        "targets": list(one.rule.targets),
        "risk": one.rule.ceiling.value,
        "expires_at": one.rule.expires_at.isoformat(),
        "used": one.used,
        "made_by": list(one.rule.people),
        "made_at": one.made_at.isoformat(),
    }


def is_revoked(config: Config, rule: str) -> bool:
    """Whether there is a trust rule of that id, and it counts no more."""
    with queries(config) as asked:
        view = None if asked is None else asked.trust_rule(rule)
        return view is not None and view.revoked_by is not None


def guidance(config: Config) -> list[dict[str, object]]:
    """Return what was taught and is held or in use, oldest first."""
    with queries(config) as asked:
        found = () if asked is None else asked.guidance(GuidanceState.HELD, GuidanceState.CONFIRMED)
        return [_taught(one) for one in found]


def guidance_state(config: Config, name: str) -> GuidanceState | None:
    """Return how far an instruction is; None where nothing has that id."""
    with queries(config) as asked:
        view = None if asked is None else asked.one_guidance(name)
        return None if view is None else view.state


def _taught(one: GuidanceView) -> dict[str, object]:
    return {
        "id": one.id,
        "text": redact(one.text).text,
        "state": one.state.value,
        "taught_by": one.taught_by,
        "held_at": one.held_at.isoformat(),
        "confirmed_by": one.decided_by,
    }


def jobs(config: Config) -> list[dict[str, object]]:
    """Return the reminders and scheduled commands that are to come, the next one first."""
    with queries(config) as asked:
        return (
            []
            if asked is None
            else [_job(one, config.text("bot.timezone") or config.zone) for one in asked.jobs()]
        )


def _job(one: JobView, zone: str) -> dict[str, object]:
    text = redact_command(one.text) if one.act is Act.SCHEDULE else redact(one.text)
    # A job that is pending waits for some time.
    at = "" if one.next_at is None else one.next_at.isoformat()
    there = (
        ""
        if one.next_at is None
        else f"{one.next_at.astimezone(ZoneInfo(one.zone or zone)):%Y-%m-%d %H:%M %Z}"
    )
    return {
        "id": one.id,
        "act": one.act.value,
        "text": text.text,
        "person": one.person,
        "place": one.place,
        "next_at": at,
        "next_at_local": there,
        "zone": one.zone,
        "rrule": one.rrule,
        "missed": one.missed,
        "made_at": one.made_at.isoformat(),
    }


def _short(view: ProposalView, hidden: Sequence[str]) -> dict[str, object]:
    pending = view.pending
    deadlines = [one.approval.deadline_at for one in pending if one.approval is not None]
    return {
        "id": view.id,
        "title": several(pending or view.actions, secrets=hidden),
        "requester": view.requester,
        "made_at": view.made_at.isoformat(),
        "deadline_at": min(deadlines).isoformat() if deadlines else None,
        "phrase": next((one.phrase for one in pending if one.phrase is not None), None),
    }


def _action(one: ActionView, hidden: Sequence[str]) -> dict[str, object]:
    approval = one.approval
    return {
        "id": one.action.id,
        "target": one.action.target.id,
        "command": redact_command(one.action.command, extra=hidden).text,
        "risk": one.verdict.risk.value,
        "reasons": list(one.verdict.reasons),
        "state": one.state.value,
        "digest": one.digest,
        "approval": None if approval is None else approval.state.value,
        "decided_by": None if approval is None else approval.decided_by,
        "said": None if approval is None else redact(approval.said, extra=hidden).text,
        "exit_code": None if one.ending is None else one.ending.exit_code,
    }
