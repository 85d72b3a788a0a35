"""Pairing: a person links another account of their own by a code that is shown once (X4, P11).

The code is asked for where nobody else listens, is good for ten minutes, once, and links an account to
whoever asked for it and to nobody else. Guessing ends every open code after a few tries, and a code that is
said where others read is over at once. Only a keyed hash of a code is kept. What the linked account may do
then is what the person may.
"""

import hashlib
import hmac
import re
from dataclasses import replace
from datetime import timedelta

from bot import commands
from bot.answering import Speaker
from bot.controls import deny
from bot.core import Core
from bot.outcome import Outcome
from bot.phrasing import clock_time
from bot.ports import Account, Inbound
from bot.text import Text, strong
from gate.domain import AGENT, Reason, ReasonCode
from gate.policy import Operator
from ledger.accounts import PairingView
from ledger.codec import instant
from ledger.kinds import Kind, PairingIsOpen

GOOD_FOR = timedelta(minutes=10)
#: Wrong codes, from anybody, after which every open one is over.
MAX_WRONG = 5
#: No vowels (and no Y), so that no word is a code, and neither 0 nor 1, which are read as O and as I or L.
ALPHABET = "23456789BCDFGHJKLMNPQRSTVWXZ"
_CHARS = 8
_NAME_MAX = 40
_SAID = re.compile(r"\s*/?pair\s+([0-9A-Za-z]{4}-?[0-9A-Za-z]{4})\s*[.!]?\s*", re.IGNORECASE)


def steer(core: Core, outcome: Outcome, speaker: Speaker, command: commands.Accounts) -> None:
    """Carry out a control word about accounts."""
    match command:
        case commands.Pair():
            offer(core, outcome, speaker, direct=speaker.alone)
        case commands.Unpair(account=account):
            unpair(core, outcome, speaker, account)
        case commands.ShowAccounts():
            show(core, outcome, speaker)


def offer(core: Core, outcome: Outcome, speaker: Speaker, *, direct: bool) -> None:
    """Show a code to whoever asks for one where nobody else listens."""
    if not direct:
        outcome.say(
            Text.of("Ask for a code where nobody else reads: on the console, or in a direct message.")
        )
        return
    code = core.ids.code(ALPHABET, _CHARS)
    until = outcome.at + GOOD_FOR
    outcome.write(
        Kind.PAIRING_OFFERED,
        body={
            "pairing": core.ids.short_id(),
            "person": speaker.operator.id,
            "mac": _mac(core, code),
            "deadline_at": instant(until),
            "place": outcome.place,
        },
    )
    shown, ends = f"{code[:4]}-{code[4:]}", clock_time(until, zone=speaker.zone, now=outcome.at)
    outcome.say(
        Text.of(
            ["From the account to be linked, send sayso a direct message:  ", strong(f"pair {shown}")],
            f"Good once, until {ends}, for {speaker.operator.id}.",
        ),
        fleeting=True,
    )


def take(core: Core, outcome: Outcome, inbound: Inbound) -> bool:
    """Handle a code that an unknown account sent; False for other words, and while no code is open."""
    match = _SAID.fullmatch(inbound.text)
    if match is None or not inbound.direct or inbound.account.is_bot:
        return False
    open_ones = [one for one in core.queries.pairings() if one.deadline_at > outcome.at]
    if not open_ones:
        return False
    found = said_in(core, inbound.text)
    if found is None:
        _miss(outcome, open_ones, inbound.account)
        return True
    outcome.expect(PairingIsOpen(found.id))
    outcome.write(
        Kind.ACCOUNT_PAIRED,
        body={
            "pairing": found.id,
            "account": inbound.account.key,
            "display": inbound.account.display,
            "person": found.person,
            "place": outcome.place,
        },
    )
    undo = f"If that was not you:  unpair {inbound.account.key}"
    outcome.say(Text.of(f"Linked: this account is {found.person} from now on.", undo))
    # Whoever holds a code that leaked reads the line above; this one is read by whose code it was.
    told = outcome.said(
        Text.of(f"{_called(inbound.account)} was linked to {found.person} by that code.", undo)
    )
    asked_in = core.queries.offered_in(found.id)
    if asked_in is not None:
        outcome.effects.append(replace(told, place=asked_in))
    return True


def said_in(core: Core, text: str) -> PairingView | None:
    """Return the open code that `text` gives; None for other words, and for a wrong code."""
    match = _SAID.fullmatch(text)
    if match is None:
        return None
    mac, now = _mac(core, match[1].replace("-", "").upper()), core.now()
    still = (one for one in core.queries.pairings() if one.deadline_at > now)
    return next((one for one in still if hmac.compare_digest(one.mac, mac)), None)


def expose(core: Core, outcome: Outcome, inbound: Inbound) -> bool:
    """End a code that was said where others read, since any of them could use it; False for other words."""
    found = None if inbound.direct else said_in(core, inbound.text)
    if found is None:
        return False
    _end(outcome, found, "said where others read")
    over = Text.of(
        "That code was said where others read, so it is over. Nothing was linked.",
        "Ask for a new one, and send it to sayso in a direct message.",
    )
    outcome.say(over)
    asked_in = core.queries.offered_in(found.id)
    if asked_in is not None and asked_in != outcome.place:
        outcome.effects.append(replace(outcome.said(over), place=asked_in))
    return True


def known(core: Core, outcome: Outcome, inbound: Inbound, operator: Operator) -> bool:
    """Handle a code that an account gives which is somebody's already; False for other words."""
    if expose(core, outcome, inbound):
        return True
    if said_in(core, inbound.text) is None:
        return False
    outcome.say(Text.of(f"This account is {operator.id}'s already. Nothing changed; the code is still good."))
    return True


def unpair(core: Core, outcome: Outcome, speaker: Speaker, account: str) -> None:
    """Unlink one of the speaker's own accounts."""
    if account not in core.queries.accounts_of(speaker.operator.id):
        text = (
            f"No linked account {account} of yours. accounts lists them; the config's own are changed there."
        )
        deny(outcome, speaker, Reason(code=ReasonCode.UNKNOWN_ID, text=text))
        return
    outcome.write(
        Kind.ACCOUNT_UNPAIRED,
        body={"account": account, "person": speaker.operator.id, "by": speaker.operator.id},
        words={"said": speaker.said},
    )
    outcome.say(Text.of(f"Unlinked {account}. It is nobody's now."))


def show(core: Core, outcome: Outcome, speaker: Speaker) -> None:
    """List the speaker's accounts."""
    linked = core.queries.accounts_of(speaker.operator.id)
    lines = [
        f"  {account}   from the config" for account in speaker.operator.accounts if account not in linked
    ]
    lines += [f"  {account}   linked by a code; unpair {account} unlinks it" for account in linked]
    outcome.say(Text.of(f"{speaker.operator.id} is:", *lines, "pair links another one."))


def close_due(core: Core, outcome: Outcome) -> bool:
    """Write the end of every code whose time is over; whether there was any."""
    due = [one for one in core.queries.pairings() if one.deadline_at <= outcome.at]
    for one in due:
        _end(outcome, one, "expired")
    return bool(due)


def _called(account: Account) -> str:
    name = " ".join(account.display.split())[:_NAME_MAX]  # chosen by whoever it is
    return f"{account.key} ({name})" if name else account.key


def _miss(outcome: Outcome, open_ones: list[PairingView], account: Account) -> None:
    outcome.write(Kind.PAIRING_MISSED, body={"account": account.key, "place": outcome.place})
    last = [one for one in open_ones if one.wrong + 1 >= MAX_WRONG]
    for one in last:
        _end(outcome, one, "guessed at")
    outcome.say(Text.of("That is not the code." + (" Ask for a new one." if last else "")))


def _end(outcome: Outcome, pairing: PairingView, why: str) -> None:
    outcome.expect(PairingIsOpen(pairing.id))
    outcome.write(
        Kind.PAIRING_ENDED,
        body={"pairing": pairing.id, "person": pairing.person, "how": why, "by": AGENT},
    )


def _mac(core: Core, code: str) -> str:
    return hmac.new(core.token_key, f"pair\n{code}".encode(), hashlib.sha256).hexdigest()
