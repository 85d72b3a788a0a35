"""Making a trust rule by words: "trust `systemctl restart caddy` on web1 for 30 days" (X15, X12).

Judges the command on each of its targets as if it were asked for, hands that to the gate, and records the
rule once its phrase was typed. It never makes one by itself: between the words and the rule stand the phrase
and, where there is one, the second person (D19).
"""

import re
from datetime import datetime

from bot.acts.handler import ActRequest, Bound
from bot.answering import Speaker
from bot.control_words import bare
from bot.core import Core
from bot.judging import judge
from bot.outcome import Outcome
from bot.planning.drafts import ActionDraft
from bot.proposing import Denied, bind
from bot.text import Text
from gate.domain import PersonId, ProposalId
from gate.redact import redact_command
from gate.resolve import set_trust
from gate.resolve.decision import Act, Decision, Deny
from gate.resolve.set_trust import TrustFacts
from ledger.kinds import Json, Kind, RowIs

_TARGETS = r"@?[\w.-]+(?:(?:\s*,\s*|\s+and\s+|\s+)@?[\w.-]+)*?"
_TRUST = re.compile(
    rf"trust\s+(?P<command>`[^`]+`|[^`\n]+?)\s+on\s+(?P<targets>{_TARGETS})(?:\s+(?P<lasts>(?:for|until)\s.+))?",
    re.IGNORECASE,
)
_MAX_CHARS = 1000
_NO_PROPOSAL = ProposalId("trust")


class TrustActs:
    """Reads, resolves and performs the making of trust rules. Holds nothing."""

    acts = frozenset({Act.SET_TRUST})

    def read(self, core: Core, speaker: Speaker, request_at: datetime) -> ActRequest | None:
        """Return the rule that the whole message asks for; None for anything else."""
        message = bare(speaker.said).rstrip(" .!")
        found = _TRUST.fullmatch(message) if len(message) <= _MAX_CHARS else None
        if found is None:
            return None
        quoted = found["command"]
        command = quoted.strip("`").strip()
        targets = re.sub(r"\s+and\s+", ",", found["targets"])
        known = command.partition(" ")[0] in core.rules.programs
        if quoted == command and not known and not isinstance(core.inventory.select(targets), tuple):
            return None  # "trust me on this"
        slots = {"command": command, "targets": targets}
        if found["lasts"]:
            slots["lasts"] = found["lasts"].removeprefix("for ")
        return ActRequest(
            act=Act.SET_TRUST, slots=slots, said=speaker.said, request_at=request_at, tool="trust"
        )

    def resolve(self, core: Core, outcome: Outcome, speaker: Speaker, request: ActRequest) -> Decision:  # noqa: ARG002 - of the protocol
        """Let the gate resolve a rule, on what it says of the command now."""
        draft = ActionDraft(
            command=request.slots["command"], target_words=(request.slots["targets"],), purpose=request.said
        )
        actions = bind(core, [draft], proposal=_NO_PROPOSAL)
        if isinstance(actions, Denied):
            return Deny(reason=actions.reason, slots=request.slots)
        facts = TrustFacts(
            actions=[(one, judge(core, one).verdict) for one in actions],
            known=core.rules,
            request_at=request.request_at,
            zone=speaker.zone,
            secrets=tuple(core.secrets),
        )
        return set_trust.resolve(request.slots, facts)

    def perform(
        self,
        core: Core,
        outcome: Outcome,
        speaker: Speaker,
        request: ActRequest,
        bound: Bound,
    ) -> None:
        """Record the rule and say how to end it."""
        slots, rule = bound.slots, core.ids.short_id()
        asked_by = _asker(core, bound, speaker)
        typed_by = speaker.operator.id
        targets: list[Json] = [*slots["targets"].split("\n")]
        outcome.expect(RowIs("trust_rule", rule, None))
        outcome.write(
            Kind.TRUST_RULE_MADE,
            correlation_id=bound.commitment,
            body={
                "rule": rule,
                "targets": targets,
                "ceiling": slots["ceiling"],
                "expires_at": slots["expires_at"],
                "until": slots["until"],
                "by": asked_by,
                "with_whom": None if typed_by == asked_by else typed_by,
                "place": outcome.place,
            },
            words={"command": slots["command"], "said": request.said},
        )
        command = redact_command(slots["command"], extra=core.secrets).text
        where = ", ".join(map(str, targets))
        outcome.say(
            Text.of(
                f"Trust rule #{rule}:  {command}  runs unasked on {where} until {slots['until']}.",
                f"revoke trust {rule}  ends it at once. trust rules  lists all.",
            )
        )


def _asker(core: Core, bound: Bound, speaker: Speaker) -> PersonId:
    """Return who asked for what is done now, which may be somebody else than who typed its phrase."""
    view = core.queries.commitment(bound.commitment)
    return speaker.operator.id if view is None else view.person


HANDLER = TrustActs()
