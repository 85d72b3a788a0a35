"""What one turn will write, gathered before it is written.

A turn only describes: drafts, expectations and effects pile up here and become one batch of the ledger, so
that all of a decision stands or none of it. After the batch stands, `work` names the proposals to move on.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from bot.ports import Account
from bot.text import Span, Style, Text
from gate.domain import ActionId, PersonId, PlaceId, ProposalId, TurnId
from ledger.kinds import Batch, Draft, Effect, EffectKind, Expectation, Json, Kind


@dataclass(slots=True, kw_only=True)
class Outcome:
    """The growing description of one turn.

    Attributes:
        shows: pending proposals that the answer puts in front of people.
        window: whose next words count, and for which proposal (D2).
        work: proposals whose actions may move once the batch stands.
        cancel: actions to stop once the batch stands, and who said so.
        account: whom the turn is with; None where it is with nobody.
        after: to be called once the batch stands, for what only a file can hold; the next start does it else.
    """

    at: datetime
    place: PlaceId
    turn: TurnId
    new_nonce: Callable[[], str]
    drafts: list[Draft] = field(default_factory=list)
    expects: list[Expectation] = field(default_factory=list)
    effects: list[Effect] = field(default_factory=list)
    shows: list[ProposalId] = field(default_factory=list)
    window: tuple[PersonId, ProposalId] | None = None
    work: list[ProposalId] = field(default_factory=list)
    cancel: dict[ActionId, PersonId] = field(default_factory=dict)
    account: Account | None = None
    after: list[Callable[[], None]] = field(default_factory=list)

    def write(
        self,
        kind: Kind,
        *,
        body: Mapping[str, Json],
        words: Mapping[str, str] | None = None,
        correlation_id: str = "",
    ) -> None:
        """Add one entry."""
        encoded = {name: text.encode("utf-8", "surrogateescape") for name, text in (words or {}).items()}
        self.drafts.append(Draft(kind=kind, correlation_id=correlation_id, body=body, words=encoded))

    def expect(self, *expectations: Expectation) -> None:
        """Add what the decision read."""
        self.expects.extend(expectations)

    def say(
        self,
        text: Text,
        *,
        buttons: tuple[tuple[str, str, str], ...] = (),
        asks: tuple[ProposalId, str, str] | None = None,
        choice: str = "",
        fleeting: bool = False,
        file: Mapping[str, Json] | None = None,
    ) -> None:
        """Answer in the place of the turn.

        Args:
            buttons: (label, token, style) of each.
            choice: the choice that this message asks, so that it can be closed.
            asks: what a reply to this message is about, the token of the form that it fills in ("" for
                none) and the hint in the empty field.
            fleeting: nothing of it is kept once it was said.
            file: what stands beside it, as `bot.attaching` says it.
        """
        said = self.said(text, buttons=buttons)
        if fleeting:
            said = replace(said, body={**said.body, "fleeting": True})
        if asks is not None:
            about, form, hint = asks
            said = replace(said, body={**said.body, "subject": about, "form": form, "asks": hint})
        if choice:
            said = replace(said, body={**said.body, "choice": choice})
        if file is not None:
            said = replace(said, body={**said.body, "file": dict(file)})
        self.effects.append(said)

    def close_choice(self, choice: str, text: Text, *, place: PlaceId) -> None:
        """Let the posted choice show `text`, which is how it ended, and nothing to press."""
        self._effect(EffectKind.CLOSE, place, {"choice": choice, "text": spans_doc(text)})

    def note(self, text: Text) -> None:
        """Answer whoever the turn is with, and nobody else where the platform can do that."""
        if self.account is None:
            self.say(text)
            return
        one = self.account
        account: list[Json] = [one.platform, one.tenant, one.user, one.display]
        body: dict[str, Json] = {"text": spans_doc(text), "buttons": [], "account": account}
        self.effects.append(Effect(kind=EffectKind.NOTE, place=self.place, body=body, nonce=self.new_nonce()))

    def said(self, text: Text, *, buttons: tuple[tuple[str, str, str], ...] = ()) -> Effect:
        """Return the effect of `say`, for a place in the order of effects that is not the last."""
        body: dict[str, Json] = {"text": spans_doc(text), "buttons": [list(one) for one in buttons]}
        return Effect(kind=EffectKind.SAY, place=self.place, body=body, nonce=self.new_nonce())

    def card(self, proposal: ProposalId, *, place: PlaceId) -> None:
        """Show the card of a proposal."""
        self._effect(EffectKind.CARD, place, {"subject": proposal})

    def refresh(self, proposal: ProposalId, *, place: PlaceId) -> None:
        """Bring the posted cards of a proposal to its present state."""
        self._effect(EffectKind.REFRESH, place, {"subject": proposal})

    def _effect(self, kind: EffectKind, place: PlaceId, body: Mapping[str, Json]) -> None:
        self.effects.append(Effect(kind=kind, place=place, body=body, nonce=self.new_nonce()))

    def batch(self, *, inbox: str = "") -> Batch:
        """Return everything as one batch."""
        return Batch(
            at=self.at,
            drafts=tuple(self.drafts),
            expects=tuple(self.expects),
            effects=tuple(self.effects),
            inbox=inbox,
        )


def spans_doc(text: Text) -> list[Json]:
    """Return `text` as JSON values."""
    return [[[span.text, span.style.value] for span in line] for line in text.lines]


def text_of(doc: Json) -> Text:
    """Return the text that `spans_doc` wrote."""
    if not isinstance(doc, list):
        raise TypeError(f"expected lines, got {doc!r}")
    lines: list[tuple[Span, ...]] = []
    for line in doc:
        if not isinstance(line, list):
            raise TypeError(f"expected spans, got {line!r}")
        lines.append(tuple(_span(span) for span in line))
    return Text(tuple(lines))


def _span(doc: Json) -> Span:
    match doc:
        case [str(text), str(style)]:
            return Span(text, Style(style))
        case _:
            raise TypeError(f"expected [text, style], got {doc!r}")
