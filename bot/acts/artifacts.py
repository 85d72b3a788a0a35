"""Artifacts: what is on record and can be posted (K16), as values for the gate.

The result of a proposal by its id, the digest, and a message of ours that somebody replied to. Each is text
as people see it: secrets masked, output capped as on a card. It decides nothing and sends nothing; what
"this" may mean is worked out here, which of it is meant is asked by the gate.
"""

import re
from collections.abc import Sequence
from datetime import timedelta

from bot import card_output, routing
from bot.acts.sendable import DIGEST
from bot.answering import Speaker
from bot.core import Core
from bot.outcome import Outcome, text_of
from bot.phrasing import named
from bot.showing import digest_of
from gate.domain import ProposalId
from gate.lifecycle import ACTION_ENDED
from gate.redact import redact, redact_command
from gate.resolve.post_artifact import Record, Unreadable
from ledger.views import PRUNED, ActionView, ProposalView

#: How far back "this" can mean.
RECENT = timedelta(hours=12)
#: How many proposals are looked at for that.
_SEARCHED = 100
#: What a message that somebody replied to is called; its number in the outbox follows.
_MESSAGE = "message "
_ID = re.compile(r"(?=[a-z]*\d)[a-z0-9]{6}")
#: What somebody replied to and is no message of ours.
NOT_OURS = "that message"


def read(
    core: Core, outcome: Outcome, speaker: Speaker, names: Sequence[str]
) -> dict[str, Record | Unreadable]:
    """Return what is on record under each of `names`."""
    return {name: _read(core, outcome, speaker, name) for name in names}


def _read(core: Core, outcome: Outcome, speaker: Speaker, name: str) -> Record | Unreadable:
    if name.startswith("#"):
        view = core.queries.proposal(ProposalId(name[1:]))
        return Unreadable.UNKNOWN if view is None else _result(core, view)
    if name == DIGEST or name.startswith(f"{DIGEST} "):
        period = name.removeprefix(DIGEST).strip()
        text = digest_of(core, period, zone=speaker.zone, now=outcome.at)
        return Record(label=f"the {name}", text=text.plain())
    if name.startswith(_MESSAGE):
        return _message(core, outcome, name.removeprefix(_MESSAGE))
    return Unreadable.UNKNOWN


def replied_to(core: Core, speaker: Speaker) -> str:
    """Return what the message that `speaker` replied to is called as a record; "" where it was no reply."""
    reply = speaker.reply_to
    if reply is None:
        return ""
    subject = core.subject_of(reply)
    if subject is not None:
        return f"#{subject}"
    said = core.queries.said(reply.message, core.place_of(reply.place), channel=reply.place.channel)
    return NOT_OURS if said is None else f"{_MESSAGE}{said}"


def called(words: str) -> str:
    """Return the name of a record as `words` spell it: "k7f3a2." is "#k7f3a2"."""
    name = words.strip().rstrip(".!").casefold()
    return f"#{name}" if _ID.fullmatch(name) else name


def meant(core: Core, outcome: Outcome, speaker: Speaker) -> list[str]:
    """Return what "this" may mean to `speaker` here, newest first.

    The newest card of the place, as long as no other result came after it; of somebody else's, the newest
    result that `speaker` asked for as well.
    """
    if speaker.about is not None:
        return [f"#{speaker.about}"]  # what it waits for was just shown
    here = [
        view
        for view in core.queries.proposals(since=outcome.at - RECENT, limit=_SEARCHED)
        if outcome.place in (view.asked_in, view.shown_in)
    ]
    if not here:
        return []
    newest = here[0]
    found = [newest, *(view for view in here[1:] if _ended_after(view, newest))]
    if newest.requester != speaker.operator.id:
        mine = (view for view in here if view.requester == speaker.operator.id and _is_over(view))
        found += [view for view in [next(mine, None)] if view is not None and view not in found]
    over = [view for view in found if _is_over(view)]
    return [f"#{view.id}" for view in over or found[:1]]


def _ended_after(view: ProposalView, newest: ProposalView) -> bool:
    return any(one.ended_at is not None and one.ended_at > newest.made_at for one in view.actions)


def _is_over(view: ProposalView) -> bool:
    return all(one.state in ACTION_ENDED for one in view.actions)


# ---------------------------------------------------------------- what is stored


def _result(core: Core, view: ProposalView) -> Record | Unreadable:
    """Return what became of a proposal: its outcome, each command, and what that printed."""
    if not _is_over(view):
        return Unreadable.UNFINISHED
    if any(_is_pruned(one) for one in view.actions):
        return Unreadable.BROKEN
    label = f"#{view.id} {named(view.actions[0], secrets=core.secrets)}"
    output = "\n".join(_ran(core, one) for one in view.actions)
    return Record(label=label, text=routing.result(core, view), output=output)


def _is_pruned(one: ActionView) -> bool:
    return one.action.command == PRUNED or (one.ending is not None and one.ending.output == PRUNED)


def _ran(core: Core, one: ActionView) -> str:
    command = redact_command(one.action.command, extra=core.secrets).text
    printed = redact(card_output.inline(one, beside_file=False), extra=core.secrets).text
    return "\n".join(filter(None, [f"{one.action.target.id}: {command}", printed]))


def _message(core: Core, outcome: Outcome, number: str) -> Record | Unreadable:
    # Of this place only: an answer in words may hold any number.
    body = core.queries.said_as(int(number), outcome.place) if number.isdecimal() else None
    if body is None:
        return Unreadable.UNKNOWN
    text = text_of(body).plain()
    return Record(label="the message above", text=redact(text, extra=core.secrets).text)
