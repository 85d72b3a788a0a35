"""Every setting there is.

A setting is registered with its first consumer, never before (D23), and with a test that sees it make a
difference. What a setting is, and how one is merged over the layers, stands in bot.settings.setting.
"""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from bot.settings.model import MODEL_SETTINGS
from bot.settings.setting import (
    Scope,
    Setting,
    check,
    narrowed,
    smallest,
    smallest_unless_off,
    strictest_of,
    union,
)
from bot.settings.tables import LADDER, QUORUM, largest_of_each, soonest_of_each
from gate.autonomy import Level
from gate.policy import Catastrophic, Posture
from gate.resolve.times import Width


class Separation(StrEnum):
    """Whether the requester of destructive work may approve it (C4)."""

    NEVER = "never"  # they may
    AUTO = "auto"  # they may not once two operators exist
    ALWAYS = "always"


_true_is_tighter = strictest_of(False, True)
_false_is_tighter = strictest_of(True, False)

_Age = Annotated[int, Field(ge=0, le=86_400)]
_Deadline = Annotated[int, Field(ge=10, le=86_400)]

SETTINGS: tuple[Setting, ...] = (
    Setting(
        key="bot.timezone",
        type=str,
        default="",
        hot=True,
        help='Zone that times are shown in, such as "Europe/Berlin"; empty means the zone of this machine.',
    ),
    Setting(
        key="bot.ssh_config",
        type=str,
        default="~/.ssh/config",
        help="The SSH client's config to honour: host names, users, keys, jump hosts, known_hosts.",
    ),
    Setting(
        key="bot.socket_group",
        type=str,
        default="",
        help="Unix group that may connect to the local socket; empty means only the user that runs sayso. "
        "Whoever connects must be an operator all the same.",
    ),
    Setting(
        key="bot.action_timeout_s",
        type=Annotated[int, Field(ge=1, le=86_400)],
        default=600,
        scope=Scope.CALL,
        hot=True,
        help='Seconds a command may run before it is stopped; a request may say "with 2h timeout".',
    ),
    Setting(
        key="bot.output_max_bytes",
        type=Annotated[int, Field(ge=1024, le=524_288)],
        default=65_536,
        hot=True,
        help="Bytes of a command's output that are kept: the first half and the last half of that.",
    ),
    Setting(
        key="bot.waiting_shells",
        type=Annotated[int, Field(ge=0, le=2000)],
        default=500,
        hot=True,
        help="Shells that may wait on connections over SSH for the next command that only reads, one for "
        "each host, until 5 minutes after the last one; 0 for none.",
    ),
    Setting(
        key="bot.logins_at_once",
        type=Annotated[int, Field(ge=1, le=64)],
        default=8,
        help="Connections that may be logging in at once at one SSH server, told by its address and its host "
        "key; a stock sshd begins to drop them at 10 (MaxStartups).",
    ),
    Setting(
        key="policy.posture",
        type=Posture,
        default=Posture.APPROVE_MOST,
        tightest=strictest_of(Posture.APPROVE_CONFIG, Posture.APPROVE_MOST, Posture.APPROVE_ALL),
        help="Which commands wait for a yes: approve_most (all but read-only ones), approve_config "
        "(restarts and the like run at once too), approve_all (every one).",
    ),
    Setting(
        key="policy.catastrophic",
        type=Catastrophic,
        default=Catastrophic.DENY,
        tightest=strictest_of(Catastrophic.PHRASE, Catastrophic.DENY),
        help="What happens to commands such as rm -rf /: deny, or phrase (a typed phrase allows one).",
    ),
    Setting(
        key="policy.separate_requester",
        type=Separation,
        default=Separation.AUTO,
        tightest=strictest_of(Separation.NEVER, Separation.AUTO, Separation.ALWAYS),
        help="Whether destructive work needs another person than the one who asked: never, always, or auto "
        "(once two operators exist).",
    ),
    Setting(
        key="policy.approval_s",
        type=_Deadline,
        default=900,
        tightest=smallest,
        help="Seconds a question stays open for a yes.",
    ),
    Setting(
        key="policy.clarification_s",
        type=_Deadline,
        default=900,
        tightest=smallest,
        help='Seconds a "which one?" stays open.',
    ),
    Setting(
        key="policy.start_within_s",
        type=_Deadline,
        default=900,
        tightest=smallest,
        help="Seconds after a yes within which the command must start; after that it asks again.",
    ),
    Setting(
        key="policy.force_approval_at",
        type=Annotated[int, Field(ge=0, le=1_000_000)],
        default=0,
        tightest=smallest_unless_off,
        help="Number of dependants from which even a restart waits for a yes; 0 is off.",
    ),
    Setting(
        key="policy.bare_ack_grants",
        type=bool,
        default=False,
        tightest=_false_is_tighter,
        help='Whether a bare "ok" or a thumbs-up counts as a yes.',
    ),
    Setting(
        key="policy.quorum",
        type=QUORUM,
        default=(),
        tightest=largest_of_each,
        help='How many people have to say yes, by risk (and stricter), "@tag" or target, as in '
        "{ destructive = 2 }; the largest that applies counts.",
    ),
    Setting(
        key="policy.nudge_s",
        type=_Age,
        default=300,
        tightest=smallest_unless_off,
        help="Seconds after which a question that nobody answered is said again, once; 0 is never.",
    ),
    Setting(
        key="policy.escalate_s",
        type=_Age,
        default=600,
        tightest=smallest_unless_off,
        help="Seconds after which its card is shown to somebody else who may approve it, once; 0 is never.",
    ),
    Setting(
        key="policy.ladder",
        type=LADDER,
        default=(),
        tightest=soonest_of_each,
        help="Other nudge_s and escalate_s for a posture, as in { approve_all = { nudge_s = 60 } }.",
    ),
    Setting(
        key="policy.stopped",
        type=bool,
        default=False,
        tightest=_true_is_tighter,
        help="Nothing starts at all, approved work included, and no chat command can change that.",
    ),
    Setting(
        key="policy.auto_act",
        type=bool,
        default=True,
        tightest=_false_is_tighter,
        help="Whether anything may run without being approved; false leaves approved work alone.",
    ),
    Setting(
        key="policy.approve_everything",
        type=bool,
        default=False,
        tightest=_true_is_tighter,
        help="Even read-only commands wait for a yes.",
    ),
    Setting(
        key="policy.never_auto_act",
        type=tuple[str, ...],
        default=(),
        tightest=union,
        help="Names of targets on which nothing runs without being approved.",
    ),
    Setting(
        key="policy.rules",
        type=tuple[str, ...],
        default=(),
        tightest=union,
        help="Files with risk rules of your own, from the folder of this file; they add programs and tighten "
        "what is there (docs/risk.md).",
    ),
    Setting(
        key="outbound.allowed",
        type=tuple[str, ...],
        default=(),
        tightest=narrowed,
        help="Names of [places] that anything may be sent to; empty means every one of them.",
    ),
    Setting(
        key="autonomy.max",
        type=Level,
        default=Level.RUN,
        tightest=strictest_of(*reversed(Level)),
        is_ceiling=True,
        help="The most that sayso does of what nobody typed, whatever a key below says: off, advise, ask, "
        "propose, apply, run. It is no consent: what waits for a yes still does.",
    ),
    Setting(
        key="schedule.autonomy",
        type=Level,
        default=Level.RUN,
        scope=Scope.CALL,
        hot=True,
        clamped_by="autonomy.max",
        help="What becomes of a scheduled command: run (what the gate lets run at once does), propose (it "
        "waits for a yes), below that it is only said.",
    ),
    Setting(
        key="repair.autonomy",
        type=Level,
        default=Level.ADVISE,
        scope=Scope.CALL,
        hot=True,
        clamped_by="autonomy.max",
        help="What follows a failed command: off (its error alone), advise (a likely fix in words), ask "
        "(whether to look), propose (a look that waits for a yes), run (a look, if it only reads).",
    ),
    Setting(
        key="runbooks.autonomy",
        type=Level,
        default=Level.RUN,
        scope=Scope.CALL,
        hot=True,
        clamped_by="autonomy.max",
        help="How far a runbook goes: run (a step asks where its runbook or the gate does), propose (every "
        "step waits for a yes), below that what it would do is only shown.",
    ),
    Setting(
        key="planner.autonomy",
        type=Level,
        default=Level.PROPOSE,
        scope=Scope.CALL,
        hot=True,
        clamped_by="autonomy.max",
        help="How far a model goes that plans what was asked: run (what the gate lets run at once does), "
        "propose (what only reads does, everything else waits for a yes), below that no model is called.",
    ),
    *MODEL_SETTINGS,
    Setting(
        key="delegates.autonomy",
        type=Level,
        default=Level.RUN,
        scope=Scope.CALL,
        hot=True,
        clamped_by="autonomy.max",
        help="What becomes of a command that an agent asks for: run (what the gate lets run at once does), "
        "propose (it waits for a yes), below that it is refused.",
    ),
    Setting(
        key="signals.autonomy",
        type=Level,
        default=Level.ADVISE,
        scope=Scope.CALL,
        hot=True,
        clamped_by="autonomy.max",
        help="What becomes of an alert: off (it is recorded), advise (a note), ask (a question to press), "
        "propose (a card that waits for a yes), run (what the gate lets run at once does).",
    ),
    Setting(
        key="signals.place",
        type=str,
        default="",
        help="The name of one of [places] that alerts are shown in.",
    ),
    Setting(
        key="signals.storm_groups",
        type=Annotated[int, Field(ge=1, le=1000)],
        default=10,
        hot=True,
        help="New groups of alerts in a minute up to which each has a card; more are a storm, with one.",
    ),
    Setting(
        key="signals.flap_changes",
        type=Annotated[int, Field(ge=2, le=1000)],
        default=4,
        hot=True,
        help="Changes of an alert within flap_s from which on it is held until it is as it is for as long.",
    ),
    Setting(
        key="signals.flap_s",
        type=Annotated[int, Field(ge=60, le=86_400)],
        default=600,
        hot=True,
        help="Seconds over which changes of an alert are counted.",
    ),
    Setting(
        key="signals.acts_per_hour",
        type=Annotated[int, Field(ge=0, le=1000)],
        default=12,
        hot=True,
        help="Proposals and runs that alerts may lead to in an hour; what is more is a note.",
    ),
    Setting(
        key="clarify.width",
        type=Width,
        default=Width.BALANCED,
        hot=True,
        help="How readily sayso asks what was meant: balanced, strict (also where something remembered lies "
        "within a month of a time from now, and before it sends to a place while outbound.allowed is empty), "
        "relaxed (a time from now counts as such whatever lies near).",
    ),
    Setting(
        key="guidance.enabled",
        type=bool,
        default=True,
        hot=True,
        help="Whether what sayso was taught and an operator confirmed is told to whatever plans.",
    ),
    Setting(
        key="metrics.listen",
        type=str,
        default="",
        help='Where metrics can be read, such as "127.0.0.1:9464"; empty is nowhere. This machine only.',
    ),
    Setting(
        key="ledger.checkpoint_entries",
        type=Annotated[int, Field(ge=1, le=1_000_000)],
        default=1000,
        help="Entries after which a signed checkpoint is made.",
    ),
    Setting(
        key="ledger.checkpoint_s",
        type=Annotated[int, Field(ge=1, le=604_800)],
        default=300,
        help="Seconds after which a signed checkpoint is made when there are new entries.",
    ),
    Setting(
        key="ledger.retention_days",
        type=Annotated[int, Field(ge=0, le=36_500)],
        default=0,
        help="Days after which exact words, commands and output are forgotten; 0 keeps them for good. "
        "Entries stay and still verify.",
    ),
)

BY_KEY = {setting.key: setting for setting in SETTINGS}

check(SETTINGS)
