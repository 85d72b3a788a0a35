"""The decision about one utterance: (facts, utterance, policy, now) -> decision.

Owns when words count and for what (D2, C13, X2): an explicit reference (button, id, reply, thread) names its
proposal; bare words count only inside the speaker's open window and only when nothing else is pending. It
reads what words mean through the `Assent` it is handed, asks `authority` who may, and never looks at a clock:
pending approvals in `facts` are live at `now` by the caller's word and are checked once more here.

It does not plan: an utterance that answers nothing is `Open`, a request for the planner.
"""

from collections.abc import Sequence
from datetime import datetime

from gate import authority, phrases, quorum
from gate.decisions import (
    AskedAgain,
    Challenged,
    ChangeAsked,
    Choice,
    Decision,
    Granted,
    Ignored,
    Open,
    PlayedBack,
    Reader,
    Refused,
    Rejected,
    Utterance,
    Voted,
    Which,
)
from gate.domain import (
    Assent,
    AssentVerdict,
    Facts,
    Manner,
    PendingApproval,
    Reason,
    ReasonCode,
    Window,
)
from gate.policy import Policy

#: Who reads a decision finds its words here too.
__all__ = [
    "AskedAgain",
    "Challenged",
    "ChangeAsked",
    "Choice",
    "Decision",
    "Granted",
    "Ignored",
    "Open",
    "PlayedBack",
    "Reader",
    "Refused",
    "Rejected",
    "Utterance",
    "Voted",
    "Which",
    "decide",
    "describe",
]


def decide(facts: Facts, utterance: Utterance, *, policy: Policy, read: Reader, now: datetime) -> Decision:
    """Return what `utterance` decides about what is pending in `facts`."""
    if utterance.person is None:
        return Ignored(why="not an operator")
    if not utterance.ordinary:
        return Ignored(why="not a fresh message of a person")
    live = tuple(one for one in facts.pending if one.deadline_at > now)
    if utterance.refers_to is not None:
        mine = tuple(one for one in live if one.proposal == utterance.refers_to)
        decision = _referenced(mine, utterance, policy=policy, read=read)
        if utterance.outdated and isinstance(decision, Granted | Voted):
            text = "Nothing ran: that was said before it was asked anew."
            return Rejected(reason=Reason(code=ReasonCode.STALE_WORDS, text=text), approvals=mine)
        return decision
    here = tuple(one for one in live if facts.place in (one.asked_in, one.shown_in))
    typed = (
        _typed_phrase(_read(here, utterance), utterance, policy=policy)
        or _typed_elsewhere(_read(live, utterance), utterance, policy=policy)
        or _typed_too_soon([one for one in here if one.shown_in == facts.place], utterance, policy=policy)
    )
    if typed is not None:
        return typed
    return _bare_words(facts, here, utterance, policy=policy, read=read)


def describe(pending: PendingApproval) -> str:
    """Return the description that assent is read against."""
    return f"{pending.action.command} on {pending.action.target.id}"


def _referenced(
    mine: tuple[PendingApproval, ...], utterance: Utterance, *, policy: Policy, read: Reader
) -> Decision:
    if not mine:
        # How the named one ended is known to the ledger; the caller says it, by this code.
        return Rejected(reason=Reason(code=ReasonCode.ALREADY_DECIDED, text="That one is not waiting."))
    if utterance.choice is not None:
        return _chosen(mine, utterance, utterance.choice, policy=policy)
    typed = _typed_phrase(mine, utterance, policy=policy)
    if typed is not None:
        return typed
    assent = read(utterance.text, _descriptions(mine))
    near = _near_phrase(mine, utterance, assent)
    if near is not None:
        return Challenged(approval=near, near=True)
    return _answered(mine, utterance, assent, policy=policy)


def _chosen(
    mine: tuple[PendingApproval, ...], utterance: Utterance, choice: Choice, *, policy: Policy
) -> Decision:
    if utterance.index is not None and len(mine) > 1:
        return _one_of(mine, utterance)
    if choice is Choice.DENY:
        return _refuse(mine, utterance, reason=utterance.text.strip())
    return _grant(mine, utterance, policy=policy)


def _one_of(mine: tuple[PendingApproval, ...], utterance: Utterance) -> Decision:
    """One action of a list was named: it is played back as a card of its own, never taken for the list."""
    for position, one in enumerate(mine, start=1):
        if one.action.index == utterance.index and utterance.choice is Choice.APPROVE:
            return PlayedBack(approvals=mine, selects=(position,))
    proposal = mine[0].proposal
    text = f"A card is dropped as a whole: deny {proposal}. Or say which part to run: approve {proposal}.1"
    return Rejected(reason=Reason(code=ReasonCode.PART_ONLY, text=text), approvals=mine)


def _bare_words(
    facts: Facts,
    here: tuple[PendingApproval, ...],
    utterance: Utterance,
    *,
    policy: Policy,
    read: Reader,
) -> Decision:
    window = _window_of(utterance, facts)
    mine = tuple(one for one in here if window is not None and one.proposal == window.proposal)
    assent = read(utterance.text, _descriptions(mine or here))
    near = _near_phrase(here, utterance, assent)
    if near is not None:
        return Challenged(approval=near, near=True)
    if assent.verdict is AssentVerdict.OTHER and not (assent.question and mine):
        return Open()
    several = len({one.proposal for one in here}) > 1
    grants = assent.verdict is AssentVerdict.GRANT
    if mine and not (grants and (several or not _bare_yes_counts(mine, utterance))):
        return _answered(mine, utterance, assent, policy=policy)
    return _without_window(window, here, utterance, assent)


def _window_of(utterance: Utterance, facts: Facts) -> Window | None:
    """Return the window only where it is this speaker's, in this place: nobody answers in another's."""
    window, person = facts.window, utterance.person
    if window is None or person is None or window.person != person.id or window.place != facts.place:
        return None
    return window


def _bare_yes_counts(mine: Sequence[PendingApproval], utterance: Utterance) -> bool:
    """Whether a yes without a reference may count: beside the card, the requester's or in its thread (D2)."""
    return all(
        (utterance.own_thread or _is_requester(one, utterance)) and one.asked_in == one.shown_in
        for one in mine
    )


def _without_window(
    window: Window | None, here: tuple[PendingApproval, ...], utterance: Utterance, assent: Assent
) -> Decision:
    """Words that answer something, said where nothing of the speaker's is open for words."""
    asked = tuple(one for one in here if _is_requester(one, utterance))
    if not utterance.engaged and not asked:
        return Ignored(why="answers somebody else")
    if not here:
        return _nothing_waits(assent) if window is None else _ended_meanwhile(assent)
    several = len({one.proposal for one in here}) > 1
    if assent.verdict is AssentVerdict.REFUSE:
        # A no stops at once wherever it can mean only one thing; it never needs a window.
        if several or not asked:
            return Which(approvals=here, choice=Choice.DENY)
        return _refuse(asked, utterance, reason=assent.reason)
    if several:
        loose = tuple(one for one in here if one.phrase is None)
        return Which(approvals=loose or here, choice=Choice.APPROVE)
    text = "Nothing ran: without its id, only the next message of who asked counts."
    if all(one.asked_in != one.shown_in for one in here):
        text = "Nothing ran: that card takes a reply to it, its buttons or its id."
    return Rejected(reason=Reason(code=ReasonCode.STALE_WORDS, text=text), approvals=here)


def _ended_meanwhile(assent: Assent) -> Decision:
    if assent.verdict is AssentVerdict.AMBIGUOUS:
        return Open()
    return Rejected(reason=Reason(code=ReasonCode.EXPIRED, text="That one is not waiting any more."))


def _nothing_waits(assent: Assent) -> Decision:
    if assent.verdict is AssentVerdict.AMBIGUOUS and assent.question:
        return Open()
    return Rejected(reason=Reason(code=ReasonCode.NOTHING_PENDING, text="Nothing waits for an answer here."))


def _answered(
    mine: tuple[PendingApproval, ...], utterance: Utterance, assent: Assent, *, policy: Policy
) -> Decision:
    if assent.verdict is AssentVerdict.OTHER and not assent.question:
        return Open()
    match assent.verdict:
        case AssentVerdict.GRANT:
            return _grant(mine, utterance, policy=policy)
        case AssentVerdict.REFUSE:
            return _refuse(mine, utterance, reason=assent.reason)
        case AssentVerdict.PARTIAL:
            return _part(mine, utterance, assent)
        case AssentVerdict.CHANGE:
            return ChangeAsked(approvals=mine)
        case _:
            return AskedAgain(approvals=mine, because=assent.because, question=assent.question)


def _part(mine: tuple[PendingApproval, ...], utterance: Utterance, assent: Assent) -> Decision:
    if mine[0].fanout:
        return ChangeAsked(approvals=mine)  # part of many is named, not counted
    if _numbers_mislead(mine) and any(char.isdigit() for char in utterance.text):
        return AskedAgain(approvals=mine, because="the numbers on the card are not those of what waits")
    selects = tuple(index for index in assent.selects if 1 <= index <= len(mine))
    if not selects or len(selects) == len(mine):
        return AskedAgain(approvals=mine, because=assent.because)
    return PlayedBack(approvals=mine, selects=selects)


def _numbers_mislead(mine: Sequence[PendingApproval]) -> bool:
    """Whether the card numbers what waits otherwise than by position: some of its list is past waiting."""
    return any(one.action.index != position for position, one in enumerate(mine, start=1))


def _grant(mine: tuple[PendingApproval, ...], utterance: Utterance, *, policy: Policy) -> Decision:
    loose = tuple(one for one in mine if one.phrase is None)
    strict = next((one for one in mine if one.phrase is not None), None)
    if not loose and strict is not None:
        return _objected(strict, utterance, policy) or Challenged(approval=strict)
    for one in loose:
        # All of the list that was shown, or nothing of it (D4).
        objected = _objected(one, utterance, policy)
        if objected is not None:
            return objected
    return _agreed(loose, utterance, policy=policy, manner=utterance.manner, challenge=strict)


def _agreed(
    approvals: tuple[PendingApproval, ...],
    utterance: Utterance,
    *,
    policy: Policy,
    manner: Manner,
    challenge: PendingApproval | None = None,
) -> Decision:
    """Decide about a yes that nothing speaks against: it grants, or it is one of several that are needed."""
    person = None if utterance.person is None else utterance.person.id
    needed = quorum.needed(approvals, policy)
    if all(len({*quorum.counted(one, policy), person}) >= needed for one in approvals):
        return Granted(
            approvals=approvals,
            manner=manner,
            alone=needed == 1 and all(one.owner == person for one in approvals),
            challenge=challenge,
            needed=needed,
        )
    fresh = tuple(one for one in approvals if person not in one.votes)
    if not fresh:
        return Rejected(reason=_said_already(approvals[0], policy, needed=needed), approvals=approvals)
    return Voted(approvals=fresh, manner=manner, needed=needed, challenge=challenge)


def _said_already(pending: PendingApproval, policy: Policy, *, needed: int) -> Reason:
    others = " or ".join(quorum.missing(pending, policy)) or "nobody; see quorum in the config"
    count = len(quorum.counted(pending, policy))
    text = f"Your yes counts already: {count} of {needed}. Who may say the next one: {others}."
    return Reason(code=ReasonCode.ALREADY_VOTED, text=text)


def _typed_phrase(
    among: tuple[PendingApproval, ...], utterance: Utterance, *, policy: Policy
) -> Decision | None:
    """Return the decision when the text is exactly a phrase that `among` waits for, else None."""
    wanted = tuple(
        one for one in among if one.phrase is not None and phrases.matches(utterance.text, one.phrase)
    )
    if not wanted:
        return None
    # One phrase runs all of a fan-out; of two questions with the same phrase it names neither.
    if len({(one.proposal, one.list_digest) for one in wanted}) > 1:
        return Which(approvals=wanted, choice=Choice.APPROVE)
    for one in wanted:
        objected = _objected(one, utterance, policy)
        if objected is not None:
            return objected
    return _agreed(wanted, utterance, policy=policy, manner=Manner.PHRASE)


def _typed_elsewhere(
    live: tuple[PendingApproval, ...], utterance: Utterance, *, policy: Policy
) -> Decision | None:
    """A phrase names what it runs, so who may decide it may type it anywhere, such as on another console."""
    # All of a list or nothing of it (D4): who may not decide one of a fan-out does not decide the others.
    barred = {
        (one.proposal, one.phrase)
        for one in live
        if authority.objection(utterance.person, one, policy) is not None
    }
    mine = tuple(one for one in live if (one.proposal, one.phrase) not in barred)
    return _typed_phrase(mine, utterance, policy=policy)


def _read(among: tuple[PendingApproval, ...], utterance: Utterance) -> tuple[PendingApproval, ...]:
    return tuple(one for one in among if one.proposal not in utterance.unread)


def _typed_too_soon(
    here: Sequence[PendingApproval], utterance: Utterance, *, policy: Policy
) -> Rejected | None:
    """A phrase that crossed its card on the way, such as the request for it sent twice, runs nothing."""
    for one in here:
        if one.phrase is not None and phrases.matches(utterance.text, one.phrase):
            text = "Nothing ran: that was said before its card was shown."
            soon = Rejected(reason=Reason(code=ReasonCode.STALE_WORDS, text=text), approvals=(one,))
            return _objected(one, utterance, policy) or soon
    return None


def _near_phrase(
    among: tuple[PendingApproval, ...], utterance: Utterance, assent: Assent
) -> PendingApproval | None:
    """Return the approval whose phrase was almost typed; it is asked for again, never granted."""
    if assent.verdict not in (AssentVerdict.OTHER, AssentVerdict.AMBIGUOUS):
        return None
    for one in among:
        if one.phrase is not None and phrases.looks_like_phrase(utterance.text, one.phrase):
            return one
    return None


def _refuse(mine: tuple[PendingApproval, ...], utterance: Utterance, *, reason: str) -> Decision:
    # A card is one list: who may drop any of it drops the card, since nothing of it can run as shown.
    if not any(authority.may_refuse(utterance.person, one) for one in mine):
        return Rejected(
            reason=Reason(
                code=ReasonCode.NOT_AUTHORISED,
                text="Only who asked, or who may approve it, can drop this one.",
            ),
            approvals=mine,
        )
    return Refused(approvals=mine, manner=utterance.manner, reason=reason)


def _objected(pending: PendingApproval, utterance: Utterance, policy: Policy) -> Rejected | None:
    reason = authority.objection(utterance.person, pending, policy)
    return None if reason is None else Rejected(reason=reason, approvals=(pending,))


def _is_requester(pending: PendingApproval, utterance: Utterance) -> bool:
    return utterance.person is not None and utterance.person.id == pending.requester


def _descriptions(pending: Sequence[PendingApproval]) -> tuple[str, ...]:
    """Return what an answer can speak of; a fan-out is one thing, whatever number of targets it has."""
    said = {(one.proposal, one.fanout or one.approval): describe(one) for one in reversed(pending)}
    return tuple(reversed(said.values()))
