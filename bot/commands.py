"""Control words as values: what steers sayso itself, such as "stop", "approve #k7f3a2" or "history".

Values only: `bot.control_words` reads them out of messages; who may say them and what they cause is decided
elsewhere.
"""

from dataclasses import dataclass

from gate.domain import ProposalId
from gate.policy import Posture


@dataclass(frozen=True, slots=True, kw_only=True)
class Ref:
    """A proposal as named by a person; `index` is its 1-based action ("#k7f3a2.2"), None for all of it."""

    proposal: ProposalId
    index: int | None = None


@dataclass(frozen=True, slots=True)
class Stop:
    """Nothing starts, approved work included."""


@dataclass(frozen=True, slots=True)
class AutoOff:
    """Nothing automatic starts."""


@dataclass(frozen=True, slots=True)
class AutoOn:
    """Let automatic work start again; loosens."""


@dataclass(frozen=True, slots=True)
class Resume:
    """Lift every switch; loosens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SetPosture:
    """Change which risks wait for a yes."""

    posture: Posture


@dataclass(frozen=True, slots=True, kw_only=True)
class NeverAuto:
    """Nothing automatic on this target any more; the target is in lower case."""

    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AllowAuto:
    """Let things start by themselves on this target again; loosens. The target is as typed."""

    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RevokeTrust:
    """Let a trust rule count no more; `rule` is its id without '#', "" for all of them."""

    rule: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Approve:
    """Consent to a proposal by its id."""

    ref: Ref


@dataclass(frozen=True, slots=True, kw_only=True)
class Deny:
    """Refuse a proposal by its id; `reason` is "" when none was given."""

    ref: Ref
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Details:
    """Show everything about a proposal; without a ref, about the newest of the place."""

    ref: Ref | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Again:
    """Ask for the same thing anew."""

    ref: Ref


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryFailed:
    """Ask anew for what failed; without a ref, of the card replied to, else of the newest fan-out here."""

    ref: Ref | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancel:
    """Stop what runs or withdraw what waits; without a ref, whatever single thing that is."""

    ref: Ref | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Settle:
    """Say what became of a lost action. `why` may be "", which is then asked for."""

    ref: Ref
    ran: bool
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """Ask for something else instead of what waits; `request` is what."""

    ref: Ref
    request: str


@dataclass(frozen=True, slots=True)
class Pair:
    """Ask for a code by which another account of one's own is linked; loosens nothing for anybody else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unpair:
    """Unlink an account; `account` is as `accounts` lists it."""

    account: str


@dataclass(frozen=True, slots=True)
class ShowAccounts:
    """List one's own accounts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Why:
    """Tell why the gate judged a proposal as it did."""

    ref: Ref


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """Show what an action would do, where a dry run is known."""

    ref: Ref


@dataclass(frozen=True, slots=True, kw_only=True)
class DependsOn:
    """Ask for the blast radius of a service or target ("it" gives name None), or of a proposal."""

    name: str | None = None
    target: str | None = None
    ref: Ref | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowHistory:
    """A question about the past; `bot.history.parse` reads `text`."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowDigest:
    """What was done; `period` holds the time words ("yesterday"), "" for the present task."""

    period: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowSettings:
    """Show settings and where they come from; `key` is one of them, "" for all that chat may change."""

    key: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SetSetting:
    """Change a setting; key and value as typed."""

    key: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UnsetSetting:
    """Take back what was set at run time."""

    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowMemory:
    """Tell what is remembered about `about`; "" for everything."""

    about: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowRunbooks:
    """List the runbooks, or tell what one does; `name` is its id, "" for all."""

    name: str = ""


@dataclass(frozen=True, slots=True)
class ShowLearned:
    """Tell what was learned, and how well things go."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowReport:
    """Post the report of a run; `run` is its id without '#'."""

    run: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StopRun:
    """End a run; without an id, the one that goes on here."""

    run: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RollBack:
    """Undo what a run did."""

    run: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRun:
    """Tell what a request would do and ask, and do nothing of it."""

    request: str


@dataclass(frozen=True, slots=True)
class ShowRuns:
    """List the newest runs of runbooks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowRun:
    """Show a run; where it is not `sure` that one is meant, it may be a command."""

    run: str
    sure: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RetireRunbook:
    """Take a runbook that was learned out of use; `name` is its id."""

    name: str


@dataclass(frozen=True, slots=True)
class ShowSignals:
    """List the alerts that fire."""


@dataclass(frozen=True, slots=True)
class ShowWatches:
    """List what is watched."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StopWatching:
    """End a watch; `job` is its id without '#'."""

    job: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Maintain:
    """Hold signals about a target for so many seconds; the target is in lower case."""

    target: str
    seconds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MaintainNoMore:
    """Let signals about a target through before their time; loosens. The target is in lower case."""

    target: str


@dataclass(frozen=True, slots=True)
class ShowTargets:
    """List the inventory."""


@dataclass(frozen=True, slots=True)
class ShowTrust:
    """List the trust rules."""


@dataclass(frozen=True, slots=True)
class ShowGuidance:
    """List the instructions that are held or in use."""


@dataclass(frozen=True, slots=True)
class ShowPending:
    """List what waits for a yes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowJobs:
    """List reminders, or with `all_kinds` whatever is scheduled."""

    all_kinds: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Help:
    """What can be asked; `topic` narrows it, "" for all."""

    topic: str = ""


Tightening = Stop | AutoOff | NeverAuto | RevokeTrust
OnProposal = Approve | Deny | Details | Again | RetryFailed | Cancel | Settle | Why | Preview | Edit
Accounts = Pair | Unpair | ShowAccounts
Setting = SetSetting | UnsetSetting
Taught = ShowTrust | ShowGuidance | ShowRunbooks | ShowLearned | ShowReport | RetireRunbook
Show = (
    DependsOn
    | ShowHistory
    | ShowDigest
    | ShowTargets
    | ShowPending
    | ShowJobs
    | ShowSettings
    | ShowMemory
    | Taught
    | Help
)
OfRuns = StopRun | RollBack | PlanRun | ShowRuns | ShowRun
OfSignals = ShowSignals | ShowWatches | StopWatching | Maintain | MaintainNoMore
Command = (
    Tightening
    | OfRuns
    | OfSignals
    | AutoOn
    | AllowAuto
    | Resume
    | SetPosture
    | OnProposal
    | Accounts
    | Setting
    | Show
)
