"""Trust rules by control word: listing them, and letting one count no more (X15, D19).

Revoking tightens: one word of any operator, at once. Making one takes a phrase and stands in
bot.acts.trust; which rule covers a command is the gate's.
"""

from collections.abc import Sequence

from bot.answering import Speaker
from bot.controls import deny
from bot.core import Core
from bot.outcome import Outcome
from bot.phrasing import clock_time, listed, plural
from bot.text import Text
from gate.domain import Reason, ReasonCode
from gate.lifecycle import ActionState
from gate.redact import redact_command
from ledger.kinds import Kind, RowIs
from ledger.trusting import ACTIVE, TrustRuleView

HOW = "Make one:  trust <command> on <target> for 30 days"


def named(core: Core, rule: str) -> tuple[TrustRuleView, ...]:
    """Return the rule of this id if it was not revoked; every such rule for ""."""
    return tuple(one for one in core.queries.trust_rules() if rule in ("", one.rule.id))


def no_more(gone: Sequence[TrustRuleView]) -> str:
    """Say that these rules count no more."""
    names = listed([f"#{one.rule.id}" for one in gone])
    return f"Trust rule {names} counts no more." if len(gone) == 1 else f"{names} count no more."


def revoke(core: Core, outcome: Outcome, speaker: Speaker, rule: str) -> None:
    """Let a rule, or every rule for "", count no more; what was queued under it does not start."""
    gone = named(core, rule)
    if not gone:
        what = f"No trust rule #{rule} counts." if rule else "There is no trust rule."
        deny(outcome, speaker, Reason(code=ReasonCode.UNKNOWN_ID, text=f"{what}  trust rules  lists them."))
        return
    for one in gone:
        outcome.expect(RowIs("trust_rule", one.rule.id, ACTIVE))
        outcome.write(
            Kind.TRUST_RULE_REVOKED,
            body={"rule": one.rule.id, "by": speaker.operator.id, "place": outcome.place},
            words={"said": speaker.said},
        )
    ids = {one.rule.id for one in gone}
    running = [one for one in core.queries.in_state(ActionState.STARTED) if one.rule in ids]
    goes_on = [f"Still running by it: {listed([f'#{one.action.id}' for one in running])}."] if running else []
    outcome.say(Text.of(f"{no_more(gone)} What it let run waits for a yes again.", *goes_on))


def show(core: Core, outcome: Outcome, speaker: Speaker) -> None:
    """List every rule that counts, with its uses and its end."""
    lines = [line(core, one, speaker) for one in core.queries.trust_rules() if one.rule.lasts(outcome.at)]
    if not lines:
        outcome.say(Text.of(f"No trust rule counts. {HOW}"))
        return
    outcome.say(Text.of(*lines, "revoke trust <id>  ends one at once."))


def line(core: Core, one: TrustRuleView, speaker: Speaker) -> str:
    """Return one rule as a line of the list."""
    rule = one.rule
    command = redact_command(one.command, extra=core.secrets).text
    ends = clock_time(rule.expires_at, zone=speaker.zone, now=core.now())
    uses = plural(one.used, "use") if one.used else "never used"
    people = " and ".join(rule.people)
    return f"#{rule.id}  {command}  on {', '.join(rule.targets)} · until {ends} · {uses} · by {people}"
