"""The core's belongings: what the composition root built, handed to every part that acts.

One frozen value instead of globals. It answers what every part asks: the policy and the switches of this
moment, which are what the owner set, tightened by what was switched at run time (D19); whose an account is;
which place an address leads to. It decides and writes nothing.
"""

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from bot.brake import Brake
from bot.delegates.delegate import Delegate
from bot.inventory import Inventory
from bot.known_secrets import KnownSecrets
from bot.places import parse, place_id
from bot.planning.library import Library
from bot.ports import Clock, Executor, IdSource, MessageRef, PlaceRef
from bot.recollection import Recollection
from bot.runbooks.kept import Kept
from bot.settings.live import Settings
from bot.signals.rules import SignalRule
from bot.timing import Stopwatch, no_stopwatch
from gate import authority
from gate.assent.lexicon import Lexicons
from gate.domain import PersonId, PlaceId, ProposalId
from gate.policy import Operator, Policy, Posture, Switches
from gate.shell.rules import Rules
from gate.trust_rules import TrustRule
from ledger.queries import Queries
from ledger.store import Ledger

if TYPE_CHECKING:  # a handler is handed the core, so only its type is known here
    from bot.acts.handler import ActHandler
    from bot.loading.shelf import Shelf  # which brings YAML and its checks
    from bot.planning.model.thinking import Thinker

#: Named moments between a message and its recorded end; the crash tests stop the process at each of them.
Probe = Callable[[str], None]


def no_probe(_moment: str) -> None:
    """Do nothing at a named moment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Core:
    """Everything a turn needs.

    Attributes:
        policy: what the owner set, before run-time switches.
        shelf: holds the library in use, and the folder that runbooks are kept in.
        posture_is_set: whether the owner set a posture anywhere; then no switch goes below it.
        floor: kill switches that the owner set and no chat command may lift.
        machine_zone: the time zone that an empty bot.timezone means.
        secrets: literal values that must never be shown: of the configuration, and of runs.
        token_key: 32 secret bytes that button tokens are made with.
        acts: the families of acts other than commands, in the order in which a message is offered to them.
        places: what people call a place, and where it is, as `bot.places.parse` reads it.
        signal_rules: what the owner says that labels of alerts mean, in their order.
        delegates: the agents that may ask from outside, by their name in the record.
        settings: what may change while it runs, read for each request (M16).
        retention_days: age at which exact words are forgotten; 0 keeps them.
        brake: what was tightened and cannot be recorded yet.
        recollection: what is remembered, kept between turns; `bot.memory` asks it.
        runs: where open runs stand, kept between looks; `bot.runbooks.restoring` asks it.
        thinker: the model that plans what nothing else reads; None for none.
        rehearsal: every entry is marked as rehearsal (D1).
        stopwatch: times what metrics tell of; nothing is decided by it.
    """

    ledger: Ledger
    queries: Queries
    inventory: Inventory
    shelf: "Shelf"
    executor: Executor
    rules: Rules = dataclasses.field(repr=False)  # tens of megabytes in words
    lexicons: Lexicons
    policy: Policy
    clock: Clock
    ids: IdSource
    token_key: bytes
    posture_is_set: bool = False
    floor: Switches = dataclasses.field(default_factory=Switches)
    secrets: KnownSecrets = dataclasses.field(default_factory=KnownSecrets)
    machine_zone: tzinfo = UTC
    places: Mapping[str, str] = dataclasses.field(default_factory=dict)
    signal_rules: tuple[SignalRule, ...] = ()
    delegates: Mapping[PersonId, Delegate] = dataclasses.field(default_factory=dict)
    settings: Settings = dataclasses.field(default_factory=Settings)
    acts: tuple["ActHandler", ...] = ()
    retention_days: int = 0
    thinker: "Thinker | None" = None
    rehearsal: bool = False
    probe: Probe = no_probe
    stopwatch: Stopwatch = no_stopwatch
    brake: Brake = dataclasses.field(default_factory=Brake)
    recollection: Recollection = dataclasses.field(default_factory=Recollection)
    runs: Kept = dataclasses.field(default_factory=Kept)

    @property
    def library(self) -> Library:
        """The documents in use; what is kept while sayso runs is among them from then on."""
        return self.shelf.library

    def now(self) -> datetime:
        """Return the current instant, aware UTC."""
        return self.clock.now()

    def place_of(self, ref: PlaceRef) -> PlaceId:
        """Return the place that `ref` leads to, known or new (D3)."""
        known = self.queries.place_at(ref.platform, ref.tenant, ref.channel, ref.thread)
        return place_id(ref) if known is None else known

    def subject_of(self, reply_to: MessageRef | None) -> ProposalId | None:
        """Return the proposal that a message of ours is about; None for other messages, and for none."""
        if reply_to is None:
            return None
        where = self.place_of(reply_to.place)
        return self.queries.subject_of(reply_to.message, where, channel=reply_to.place.channel)

    def find(self, account: str) -> Operator | None:
        """Return whose account this is: by the config, else linked by a code; None for strangers."""
        known = authority.find(self.policy.operators, account)
        if known is not None:
            return known
        person = self.queries.paired(account)
        return None if person is None else self.operator(person)

    @property
    def known_places(self) -> Mapping[PlaceId, PlaceRef]:
        """Every place that the config names, so that it is reached before anybody spoke there."""
        texts = [text for _, text in self.policy.routes]
        refs = [parse(text) for text in (*texts, self.policy.escalation, *self.places.values()) if text]
        refs += [one.place for one in self.delegates.values()]
        return {self.place_of(ref): ref for ref in refs}

    def operator(self, person: PersonId) -> Operator | None:
        """Return the operator of that name."""
        return next((one for one in self.policy.operators if one.id == person), None)

    @property
    def zone(self) -> tzinfo:
        """The time zone of people who have none of their own."""
        name = self.settings.text("bot.timezone")
        return ZoneInfo(name) if name else self.machine_zone

    def zone_for(self, person: PersonId) -> tzinfo:
        """Return the time zone that a person reads times in."""
        operator = self.operator(person)
        return self.zone if operator is None or not operator.timezone else ZoneInfo(operator.timezone)

    def switches(self) -> Switches:
        """Return the kill switches in force: what either the owner or a person at run time tightened."""
        live = self.queries.switches()
        return self.brake.tighten(
            Switches(
                stopped=self.floor.stopped or live.stopped,
                auto_off=self.floor.auto_off or live.auto_off,
                approve_everything=self.floor.approve_everything or live.approve_everything,
                never_auto_act=tuple(dict.fromkeys(self.floor.never_auto_act + live.never_auto_act)),
            )
        )

    def trust_rules(self) -> tuple[TrustRule, ...]:
        """Return the trust rules that count now: neither over nor revoked."""
        now, revoked = self.now(), self.brake.revoked
        rules = (view.rule for view in self.queries.trust_rules())
        return tuple(one for one in rules if one.lasts(now) and one.id not in revoked)

    def policy_now(self) -> Policy:
        """Return the policy with the posture in force."""
        chosen = self.queries.switch_values().get("posture")
        if chosen is None:
            return self.policy
        posture = Posture(str(chosen))
        if self.posture_is_set:
            posture = strictest_posture(posture, self.policy.posture)
        return dataclasses.replace(self.policy, posture=posture)


_STRICT_FIRST = (Posture.APPROVE_ALL, Posture.APPROVE_MOST, Posture.APPROVE_CONFIG)


def strictest_posture(*postures: Posture) -> Posture:
    """Return the strictest of `postures`."""
    return min(postures, key=_STRICT_FIRST.index)


def is_tighter(new: Posture, old: Posture) -> bool:
    """Whether `new` makes more wait for a yes than `old`."""
    return _STRICT_FIRST.index(new) < _STRICT_FIRST.index(old)
