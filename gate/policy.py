"""What the owner set and what was switched: postures, operators, kill switches, the policy.

Values only; gate.route and gate.authority read them. A posture is a consent gate and no autonomy dial (C5).
"""

from dataclasses import dataclass
from datetime import time
from enum import StrEnum

from gate.domain import PersonId, Risk, TargetId


class Posture(StrEnum):
    """Which risks need a person's yes (a consent gate, not the autonomy dial: C5)."""

    APPROVE_ALL = "approve_all"  # even read_only waits
    APPROVE_MOST = "approve_most"  # only read_only runs at once
    APPROVE_CONFIG = "approve_config"  # reversible_low runs at once too (D13)


class Catastrophic(StrEnum):
    """What happens to commands on the never list (C3, D15)."""

    DENY = "deny"
    PHRASE = "phrase"


@dataclass(frozen=True, slots=True, kw_only=True)
class Permission:
    """One line of an operator's `may`: up to this risk on targets that carry one of these names or @tags.

    `targets` holds slugs, "@tag" or "*".
    """

    risk: Risk
    targets: tuple[str, ...] = ("*",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """A person who may ask and decide.

    Attributes:
        accounts: "<platform>:<tenant>:<user id>" strings, each mapped to this one person (X4).
        may: what they may approve; an empty tuple lets them approve nothing.
        timezone: an IANA name; "" for the bot's own.
        quiet: wall times there between which nothing that can wait is put to this person; None for none.
    """

    id: PersonId
    accounts: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    may: tuple[Permission, ...] = ()
    timezone: str = ""
    quiet: tuple[time, time] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Switches:
    """The kill switches (N19, D19). Every field at True or filled is tighter."""

    stopped: bool = False  # nothing starts, approved work included
    auto_off: bool = False  # nothing automatic starts, approved work does
    approve_everything: bool = False  # even read_only waits
    never_auto_act: tuple[TargetId, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What the owner set. `revision` is the digest of its content, recorded with every decision (D5).

    Attributes:
        separate_requester: whether the requester of destructive work may not approve it; None means
            "when two or more operators exist" (C4).
        approval_s, start_within_s: seconds an approval stays open, and a grant may wait to start.
        force_approval_at: dependants from which an AUTO route of a mutation becomes an approval; None is off.
        quorum: how many people have to say yes, by risk name, "@tag" or target name; see gate.quorum.
        routes: where cards go that need a yes, by risk name, "@tag" or target name, as the config writes
            places; see gate.routing. `escalation` is where they go too when nobody answered; "" for none.
        nudge_s, escalate_s: ages of an open approval at which it is said again, and shown to somebody else;
            0 is off. `ladder` holds others for a posture, as ("approve_all.nudge_s", 60); see gate.ladder.
    """

    revision: str = ""
    posture: Posture = Posture.APPROVE_MOST
    catastrophic: Catastrophic = Catastrophic.DENY
    operators: tuple[Operator, ...] = ()
    separate_requester: bool | None = None
    approval_s: int = 900
    clarification_s: int = 900
    start_within_s: int = 900
    force_approval_at: int | None = None
    bare_ack_grants: bool = False
    quorum: tuple[tuple[str, int], ...] = ()
    routes: tuple[tuple[str, str], ...] = ()
    escalation: str = ""
    nudge_s: int = 300
    escalate_s: int = 600
    ladder: tuple[tuple[str, int], ...] = ()
