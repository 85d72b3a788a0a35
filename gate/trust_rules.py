"""Trust rules: what an operator lets run unasked for a while, by its exact words (X15).

Owns what a rule can cover at all and whether one covers an action now. A rule is one exact command: the words
of a single plain command, without any placeholder, on targets listed by name, up to a risk that is never
destructive, for 90 days at most. It counts only as long as whoever made it could still say the yes that it
stands for, and only where that many people are enough. It never routes anything: gate.route does, and every
switch, the posture approve_all and a frozen target win over it there.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from gate import authority, quorum
from gate.domain import Action, PersonId, Risk, TargetId, Verdict
from gate.policy import Policy
from gate.shell.certain import argv_of, doubt
from gate.shell.classify import without_sudo
from gate.shell.model import Rules

MAX_DAYS = 90
#: The strictest that a rule can reach.
HIGHEST = Risk.CONFIG_MUTATION


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustRule:
    """One rule.

    Attributes:
        id: the six characters people see, without '#'.
        argv: the words of the command; () matches nothing.
        ceiling: the risk that it reaches; a command that is judged stricter later waits again.
        expires_at: aware UTC, at most 90 days after it was asked for; from that instant on it is over.
        until: its last day in words, as it was confirmed: "30 Dec 2026".
        made_by: who asked for it. `with_whom`: who typed its phrase, where that was somebody else.
    """

    id: str
    argv: tuple[str, ...]
    targets: tuple[TargetId, ...]
    ceiling: Risk
    expires_at: datetime
    until: str
    made_by: PersonId
    with_whom: PersonId | None = None

    @property
    def people(self) -> tuple[PersonId, ...]:
        """Who made it, each once."""
        return tuple(dict.fromkeys(filter(None, (self.made_by, self.with_whom))))

    @property
    def named(self) -> str:
        """Return "rule #abc123 of ana, until 30 Dec 2026" for cards and entries."""
        return f"rule #{self.id} of {' and '.join(self.people)}, until {self.until}"

    def lasts(self, now: datetime) -> bool:
        """Whether it is not over at `now`."""
        return now < self.expires_at


def objection(action: Action, verdict: Verdict, *, known: Rules) -> str | None:
    """Return why no rule may ever let `action` run, in words that end a sentence; None where one may."""
    if _carries_more(action):
        return "it comes with more than its words: a folder, variables, a check, a runbook or a declared risk"
    # Where the target lets sayso become root, `sudo X` is X (D16); anywhere else it is a wrapper.
    inner = without_sudo(action.command, known) if action.target.become else None
    return _by_risk(verdict) or doubt(inner or action.command, rules=known) or _nameless(verdict)


def _by_risk(verdict: Verdict) -> str | None:
    if verdict.never is not None or verdict.risk.rank > HIGHEST.rank:
        return "it destroys something"
    if verdict.risk is Risk.READ_ONLY:
        return "it changes nothing: either it runs at once already, or it may show secrets"
    return "it may show secrets" if verdict.reads_secrets else None


def _nameless(verdict: Verdict) -> str | None:
    """Object to what changes configuration in a way that the rules have no name for ("runs a program")."""
    if verdict.risk is Risk.CONFIG_MUTATION and verdict.deed is None:
        return f"nothing says what it does beyond that it {verdict.reasons[0]}"
    return None


def _carries_more(action: Action) -> bool:
    more = (action.workdir, action.env, action.verify, action.runbook, action.declared_risk)
    return action.act != "exec" or any(more)


def allows(
    rules: Sequence[TrustRule],
    action: Action,
    verdict: Verdict,
    *,
    known: Rules,
    policy: Policy,
    now: datetime,
) -> TrustRule | None:
    """Return the rule that covers `action` at `now`, the one that lasts longest; None where none does.

    Args:
        rules: those that were not revoked.
        known: what is known about programs, by which `verdict` was reached.
        policy: whose operators and quorum count.
    """
    covering = [
        one
        for one in rules
        if one.argv
        and one.lasts(now)
        and action.target.id in one.targets
        and one.ceiling.at_least(verdict.risk)
        and one.argv == argv_of(action.command)
        and _is_still_theirs(one, action, verdict, policy)
    ]
    if not covering or objection(action, verdict, known=known) is not None:
        return None
    return max(covering, key=lambda one: (one.expires_at, one.id))


def _is_still_theirs(rule: TrustRule, action: Action, verdict: Verdict, policy: Policy) -> bool:
    """Whether those who made it are operators still, may approve this still, and are as many as it takes."""
    makers = [one for one in policy.operators if one.id in rule.people]
    able = [one for one in makers if authority.covers(one, target=action.target, risk=verdict.risk)]
    enough = quorum.required(policy, target=action.target, risk=verdict.risk)
    return len(makers) == len(rule.people) and len(able) >= enough
