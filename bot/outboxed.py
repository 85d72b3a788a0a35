"""How parts of a message stand in the outbox as JSON: its buttons, where it was shown, whom a note is for.

Writing and reading only; what is sent, and when, is `bot.delivery`'s.
"""

import json

from bot.ports import Account, Button, ButtonStyle, MessageRef, PlaceRef
from ledger.kinds import Json


def buttons_of(doc: Json) -> tuple[Button, ...]:
    """Return the buttons of a message."""
    if not isinstance(doc, list):
        raise TypeError(f"expected buttons, got {doc!r}")
    return tuple(_button(one) for one in doc)


def _button(doc: Json) -> Button:
    match doc:
        case [str(label), str(token), str(style)]:
            return Button(label=label, token=token, style=ButtonStyle(style))
        case _:
            raise TypeError(f"expected [label, token, style], got {doc!r}")


def ref_json(ref: MessageRef) -> str:
    """Return a message reference as JSON, for the outbox."""
    place = ref.place
    parts = (place.platform, place.tenant, place.channel, place.thread, ref.message, ref.position)
    return json.dumps(parts)


def ref_of(text: str) -> MessageRef:
    """Return the reference that `ref_json` wrote."""
    platform, tenant, channel, thread, message, *position = json.loads(text)
    place = PlaceRef(platform=platform, tenant=tenant, channel=channel, thread=thread)
    return MessageRef(place=place, message=message, position=position[0] if position else 0)


def account_of(doc: Json) -> Account:
    """Return the account that `Outcome.note` wrote."""
    match doc:
        case [str(platform), str(tenant), str(user), str(display)]:
            return Account(platform=platform, tenant=tenant, user=user, display=display)
        case _:
            raise TypeError(f"expected an account, got {doc!r}")
