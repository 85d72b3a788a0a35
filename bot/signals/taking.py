"""Taking a delivery: what is new in it, which card it belongs to, and what is held back.

One batch of the ledger for one delivery, which expects that nothing about signals changed since it was read:
what is delivered twice, or heard by two processes, acts once. A fingerprint that keeps changing is held and
said so once; too many new groups at once are one storm with one card, and nothing is done about any of them.
"""

import json
import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from bot.answering import record_denial
from bot.core import Core
from bot.outcome import Outcome
from bot.phrasing import duration
from bot.places import parse
from bot.ports import Inbound
from bot.signals import ending, wording
from bot.signals.acting import Fired, handle
from bot.signals.maintenance import until as maintained_until
from bot.signals.matching import match
from bot.text import Text
from gate.domain import PlaceId, ProposalId, Reason, ReasonCode, TurnId
from gate.redact import redact
from gate.signals import Known, News, Signal, SignalStatus, news, unpack
from ledger.codec import instant
from ledger.kinds import Json, Kind, LedgerError, LostRaceError, ProposalIsNew, SignalsAre
from ledger.signal_views import GroupView, Held, SignalView
from ledger.signals import group_key, signal_id

log = logging.getLogger(__name__)

MAX_TRIES = 8
#: New groups are counted over this long.
STORM_WITHIN = timedelta(minutes=1)


def take(core: Core, inbound: Inbound, *, inbox: str) -> Outcome:
    """Take a delivery and record what is done about it.

    Raises:
        LedgerError: nothing was written, so nothing may happen; the delivery stays in the inbox.
    """
    late = core.now() - inbound.sent_at > timedelta(seconds=core.policy.approval_s)
    try:
        return _appended(core, unpack(inbound.text), inbox=inbox, late=late)
    except LedgerError:
        raise
    except Exception as error:
        log.exception("a delivery of signals failed")
        return _crashed(core, inbound, inbox=inbox, error=error)


def raise_one(core: Core, signal: Signal, *, place: PlaceId, outcome: Outcome) -> None:
    """Write what becomes of one signal of our own into `outcome`, which is the batch that saw it."""
    delivery = Delivery(core=core, outcome=outcome, place=place)
    delivery.hear([signal])


def place_of(core: Core) -> PlaceId:
    """Return where signals are shown."""
    name = core.settings.text("signals.place")
    return core.place_of(parse(core.places[name])) if name in core.places else PlaceId("")


def new_outcome(core: Core, place: PlaceId) -> Outcome:
    """Return the outcome of a turn that nobody began."""
    return Outcome(at=core.now(), place=place, turn=TurnId(core.ids.token()), new_nonce=core.ids.token)


def _appended(core: Core, signals: Sequence[Signal], *, inbox: str, late: bool) -> Outcome:
    for attempt in range(MAX_TRIES):
        outcome = new_outcome(core, place_of(core))
        Delivery(core=core, outcome=outcome, place=outcome.place, late=late).hear(signals)
        core.probe("signal.composed")
        try:
            core.ledger.append(outcome.batch(inbox=inbox))
        except LostRaceError:
            if attempt == MAX_TRIES - 1:
                raise
            continue
        core.probe("signal.recorded")
        return outcome
    raise AssertionError("unreachable: the last try raises")


def _crashed(core: Core, inbound: Inbound, *, inbox: str, error: Exception) -> Outcome:
    """Record a delivery that sayso failed at: nothing was done about it, and that is said."""
    outcome = new_outcome(core, place_of(core))
    what = redact(f"{type(error).__name__}: {error}", extra=core.secrets).text
    text = f"An alert of {inbound.account.user} failed inside sayso: {what[:200]}. Nothing ran from it."
    outcome.say(Text.of(text))
    reason = Reason(code=ReasonCode.UNHEALTHY, text=text)
    record_denial(outcome, reason, person=wording.requester(inbound.account.user), said="")
    core.ledger.append(outcome.batch(inbox=inbox))
    return outcome


# ---------------------------------------------------------------- one delivery


@dataclass(slots=True, kw_only=True)
class _Group:
    """A group that this delivery touches. `view` is None where it begins now."""

    id: str
    view: GroupView | None
    storm: str = ""
    fired: list[tuple[str, Signal]] = field(default_factory=list)
    over: list[str] = field(default_factory=list)

    @property
    def is_shown(self) -> bool:
        return self.view is not None and any(one.level != "off" for one in self.view.acts)


@dataclass(slots=True, kw_only=True)
class Delivery:
    """What one delivery writes, gathered signal by signal."""

    core: Core
    outcome: Outcome
    place: PlaceId
    late: bool = False
    _groups: dict[str, _Group] = field(default_factory=dict)
    _open: dict[str, str] = field(default_factory=dict)
    _seen: dict[str, Known] = field(default_factory=dict)
    _changes: dict[str, int] = field(default_factory=dict)
    _held: set[str] = field(default_factory=set)
    _own: dict[str, str] = field(default_factory=dict)
    _begun: int = 0
    _storm: str | None = None

    def hear(self, signals: Iterable[Signal]) -> None:
        """Write everything that `signals` lead to."""
        self.outcome.expect(SignalsAre(self.core.queries.signals_seq()))
        quiet: dict[str, int] = {}
        source = ""
        for signal in signals:
            source = signal.source
            what = self._hear(signal)
            if what in (News.REPEAT, News.STALE):
                quiet[what] = quiet.get(what, 0) + 1
        for kind, count in quiet.items():
            body: dict[str, Json] = {"source": source, "news": kind, "count": count}
            self.outcome.write(Kind.SIGNAL_RECEIVED, body=body)
        self.close()

    def take_up(self, view: SignalView) -> None:
        """Handle a signal that was held and still fires, as if it had fired now."""
        group = self._group_for(view.signal)
        self.outcome.write(
            Kind.SIGNAL_RELEASED, correlation_id=group.id, body={"signal": view.id, "group": group.id}
        )
        group.fired.append((view.id, view.signal))

    def take_up_group(self, view: GroupView) -> None:
        """Handle what still fires of a group that was held."""
        group = self._groups.setdefault(view.id, _Group(id=view.id, view=view))
        self.outcome.write(Kind.SIGNAL_RELEASED, correlation_id=view.id, body={"group": view.id})
        group.fired += [(one.id, one.signal) for one in view.firing]

    def close(self) -> None:
        """Write what becomes of the groups that were touched."""
        stormy = self._storm_now()
        for group in self._groups.values():
            if group.over:
                self._end(group)
            if not group.fired:
                continue
            if group.storm or (group.view is not None and group.view.held == Held.STORM):
                continue  # the card of the storm tells of it
            acts = () if group.view is None else group.view.acts
            firing = frozenset() if group.view is None else {one.id for one in group.view.firing}
            fired = Fired(
                group=group.id,
                signals=group.fired,
                acts=acts,
                firing=firing,
                storm=bool(stormy),
                late=self.late,
            )
            handle(self.core, self.outcome, fired)
        if stormy:
            self.outcome.refresh(ProposalId(stormy), place=self.place)

    # ------------------------------------------------------------ one signal

    def _hear(self, signal: Signal) -> News:
        core, name = self.core, signal_id(signal.source, signal.fingerprint)
        view = core.queries.signal(name)
        known = self._seen.get(name) or (None if view is None else view.known)
        what = news(signal, known)
        if what in (News.REPEAT, News.STALE):
            return what
        self._seen[name] = Known(status=signal.status, starts_at=signal.starts_at)
        held = self._is_held(name, view)
        group = self._member_of(name, signal, view, what, held=held)
        self._received(name, signal, what, group="" if group is None else group.id)
        if held and name not in self._held and (view is None or not view.held):
            self._hold(name, signal)
        if group is None:
            return what
        if what is News.RESOLVED:
            group.over.append(name)
            group.fired = [one for one in group.fired if one[0] != name]
        elif not held and not self._is_maintained(group, signal):
            group.fired.append((name, signal))
        return what

    def _member_of(
        self, name: str, signal: Signal, view: SignalView | None, what: News, *, held: bool
    ) -> _Group | None:
        """Return the group that a change belongs to; None where it is held, and none is open."""
        if what is News.RESOLVED:
            own = self._own.get(name) or ("" if view is None else view.group)
            return self._known(own) if own else None
        if held:
            found = self._open_group(signal)
            return None if found is None else self._remember(name, self._known(found))
        return self._remember(name, self._group_for(signal))

    def _remember(self, name: str, group: _Group | None) -> _Group | None:
        if group is not None:
            self._own[name] = group.id
        return group

    def _received(self, name: str, signal: Signal, what: News, *, group: str) -> None:
        words = {
            "fingerprint": signal.fingerprint,
            "labels": dict(signal.labels),
            "annotations": dict(signal.annotations),
            "severity": signal.severity,
            "group": signal.group,
        }
        self.outcome.write(
            Kind.SIGNAL_RECEIVED,
            correlation_id=group,
            body={
                "signal": name,
                "source": signal.source,
                "status": signal.status.value,
                "news": what.value,
                "starts_at": instant(signal.starts_at),
                "group": group,
                "late": self.late,
            },
            words={"what": json.dumps(words, ensure_ascii=False, sort_keys=True)},
        )

    # ------------------------------------------------------------ what is held

    def _is_held(self, name: str, view: SignalView | None) -> bool:
        """Whether this change of a fingerprint is one too many in a short time."""
        core = self.core
        self._changes[name] = self._changes.get(name, 0) + 1
        if name in self._held or (view is not None and view.held):
            return True
        within = timedelta(seconds=core.settings.number("signals.flap_s"))
        before = core.queries.changes(name, since=self.outcome.at - within)
        return before + self._changes[name] >= core.settings.number("signals.flap_changes")

    def _hold(self, name: str, signal: Signal) -> None:
        core = self.core
        self._held.add(name)
        body: dict[str, Json] = {"signal": name, "why": Held.FLAPPING.value, "until_at": ""}
        self.outcome.write(Kind.SIGNAL_HELD, body=body)
        within = duration(core.settings.number("signals.flap_s"))
        count = core.settings.number("signals.flap_changes")
        what = f"{wording.title(core, signal)} {wording.where(core, [signal])}".strip()
        said = f"{what} of {signal.source} flaps: {count} changes in {within}. It is held: nothing more is "
        self.outcome.say(Text.of(f"{said}shown or done about it until it has stayed as it is for {within}."))

    def _is_maintained(self, group: _Group, signal: Signal) -> bool:
        """Whether the target of a signal is being worked on; a new group of such is held meanwhile."""
        target = match(self.core, signal).target.name
        end = maintained_until(self.core, target, self.outcome.at) if target else None
        if end is None:
            return False
        if group.view is None and not group.fired and not group.storm:
            self.outcome.write(
                Kind.SIGNAL_HELD,
                correlation_id=group.id,
                body={"group": group.id, "why": Held.MAINTENANCE.value, "until_at": instant(end)},
            )
        return True

    # ------------------------------------------------------------ groups

    def _open_group(self, signal: Signal) -> str | None:
        key = group_key(signal.source, signal.group or signal.fingerprint)
        return self._open.get(key) or self.core.queries.open_group(key)

    def _known(self, name: str) -> _Group | None:
        """Return an open group; None where it is over."""
        if name in self._groups:
            return self._groups[name]
        view = self.core.queries.group(name)
        if view is None or not view.is_open:
            return None
        made = self._groups[name] = _Group(id=name, view=view, storm=view.storm)
        return made

    def _group_for(self, signal: Signal) -> _Group:
        """Return the open group of `signal`, or one that begins now."""
        found = self._open_group(signal)
        group = None if found is None else self._known(found)
        return group or self._begin(signal)

    def _begin(self, signal: Signal) -> _Group:
        core, name = self.core, self.core.ids.short_id()
        storm = self._storm_now() or self._too_many()
        key = group_key(signal.source, signal.group or signal.fingerprint)
        self.outcome.expect(ProposalIsNew(ProposalId(name)))
        self.outcome.write(
            Kind.SIGNAL_GROUPED,
            correlation_id=name,
            body={
                "group": name,
                "key": key,
                "source": signal.source,
                "place": self.place,
                "storm": storm,
                "rehearsal": core.rehearsal,
            },
        )
        if storm:
            body: dict[str, Json] = {"group": name, "why": Held.STORM.value, "until_at": ""}
            self.outcome.write(Kind.SIGNAL_HELD, correlation_id=name, body=body)
        self._begun += 1
        self._open[key] = name
        made = self._groups[name] = _Group(id=name, view=None, storm=storm)
        return made

    def _storm_now(self) -> str:
        """Return the storm that is on; "" for none."""
        if self._storm is None:
            view = self.core.queries.storm()
            self._storm = "" if view is None else view.id
        return self._storm

    def _too_many(self) -> str:
        """Return the storm that begins with one more group; "" where it is not one too many."""
        core = self.core
        recent = core.queries.groups_since(self.outcome.at - STORM_WITHIN) + self._begun
        if recent < core.settings.number("signals.storm_groups"):
            return ""
        self._storm = core.ids.short_id()
        self.outcome.expect(ProposalIsNew(ProposalId(self._storm)))
        self.outcome.write(
            Kind.STORM_BEGAN,
            correlation_id=self._storm,
            body={"storm": self._storm, "place": self.place, "groups": recent + 1},
        )
        self.outcome.card(ProposalId(self._storm), place=self.place)
        return self._storm

    # ------------------------------------------------------------ what is over

    def _end(self, group: _Group) -> None:
        """Withdraw what was asked about signals that are over, and close a group in which none fires."""
        view, core = group.view, self.core
        names = {name for name, own in self._own.items() if own == group.id}
        names |= set() if view is None else {one.id for one in view.firing}
        firing = {name for name in names if self._fires(name)}
        for act in () if view is None else view.acts:
            if not firing & set(act.signals):
                ending.withdraw(core, self.outcome, act)
        if not firing:
            self.outcome.write(Kind.SIGNAL_RESOLVED, correlation_id=group.id, body={"group": group.id})
            group.fired = []
        if group.is_shown:
            self.outcome.refresh(ProposalId(group.id), place=self.place if view is None else view.place)

    def _fires(self, name: str) -> bool:
        """Whether a signal that fired before, or does now, fires at the end of this delivery."""
        known = self._seen.get(name)
        return known is None or known.status is SignalStatus.FIRING
