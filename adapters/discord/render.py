"""Messages and forms as the JSON that Discord takes. Pure; post, edit and note use the same.

The limits are checked here, before anything is sent: Discord's own refusal would come when a card is already
overdue. Nothing that goes out can ping, and no link unfolds into a picture.

Source: https://discord.com/developers/docs/resources/message, /components/reference
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from adapters.discord.markdown import markdown
from bot.fitting import fit
from bot.ports import Button, ButtonStyle, Form, Message
from bot.text import Text, visible

MAX_CONTENT, MAX_LABEL, MAX_BUTTONS, MAX_ROW, MAX_FILES = 2000, 80, 25, 5, 10
MAX_TITLE, MAX_FIELD_LABEL, MAX_HINT, MAX_VALUE = 45, 45, 100, 4000
#: The field of every form.
FIELD = "answer"
SUPPRESS_EMBEDS, EPHEMERAL = 1 << 2, 1 << 6
NO_PINGS: dict[str, object] = {"parse": [], "replied_user": False}

_STYLES = {ButtonStyle.NEUTRAL: 2, ButtonStyle.GO: 3, ButtonStyle.STOP: 4}
_TOKEN = re.compile(r"[\x20-\x7e]{1,32}")
#: A button of a card as it was posted carries the mark of its post, by which `find` knows it again.
_CUSTOM_ID = re.compile(r"s(?:1|2:[0-9a-f]{24}):(?P<token>[\x20-\x7e]{1,32})")
_FORM_ID = re.compile(r"f1:(?P<token>[\x20-\x7e]{1,32})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outgoing:
    """One message as Discord takes it: the JSON, and the files beside it as (name, content)."""

    payload: dict[str, object]
    files: tuple[tuple[str, bytes], ...] = ()


def mark_of(channel: str, nonce: str) -> str:
    """Return the nonce that Discord sees: 24 of at most 25 characters, the same for the same post."""
    return hashlib.sha256(f"{channel}\0{nonce}".encode()).hexdigest()[:24]


def outgoing(message: Message, *, mark: str = "") -> Outgoing:
    """Return `message` as Discord takes it, whole or with what does not fit in a file beside it.

    Args:
        mark: of a post, see `mark_of`; "" for edits and notes.

    Raises:
        ValueError: there are more buttons than Discord takes, or two of one token.
    """
    content = ""

    def fits(text: Text) -> bool:
        nonlocal content
        content = markdown(text)  # what was asked about last is what is returned
        return length(content) <= MAX_CONTENT

    fitted = fit(message, fits)
    return Outgoing(
        payload={
            # Discord refuses a message that shows nothing.
            "content": content if content.strip() else "…",
            "components": _rows(message.buttons, mark),
            "allowed_mentions": NO_PINGS,
            "flags": SUPPRESS_EMBEDS,
            "attachments": [
                {"id": index, "filename": file_name(name)} for index, (name, _) in enumerate(fitted.files)
            ],
        },
        files=tuple((file_name(name), content) for name, content in fitted.files),
    )


def length(text: str) -> int:
    """Return how long Discord may take `text` to be: in UTF-16 units, the larger of the ways to count."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def cut(text: str, most: int) -> str:
    """Return `text` on one line in at most `most` characters as Discord counts; a label, not a command."""
    text = " ".join(visible(text).split()) or "…"
    if length(text) <= most:
        return text
    while length(text) > most - 1:
        text = text[:-1]
    return f"{text}…"


def file_name(name: str) -> str:
    """Return a name that Discord keeps as it is."""
    return re.sub(r"[^A-Za-z0-9._-]+", "_", name)[-100:] or "file.txt"


def _rows(buttons: tuple[Button, ...], mark: str) -> list[object]:
    if len(buttons) > MAX_BUTTONS:
        raise ValueError(f"{len(buttons)} buttons; Discord shows {MAX_BUTTONS}")
    if len({button.token for button in buttons}) < len(buttons):
        raise ValueError("two buttons have one token")
    shown = [_button(button, mark) for button in buttons]
    return [{"type": 1, "components": shown[at : at + MAX_ROW]} for at in range(0, len(shown), MAX_ROW)]


def _button(button: Button, mark: str) -> dict[str, object]:
    if _TOKEN.fullmatch(button.token) is None:
        raise ValueError("a button's token is at most 32 ASCII characters")
    return {
        "type": 2,
        "style": _STYLES[button.style],
        "label": cut(button.label, MAX_LABEL),
        "custom_id": f"s2:{mark}:{button.token}" if mark else f"s1:{button.token}",
    }


def token_of_button(custom_id: str) -> str | None:
    """Return the token in the payload of a pressed button, or None when it is no button of ours."""
    match = _CUSTOM_ID.fullmatch(custom_id)
    return None if match is None else match["token"]


def token_of_form(custom_id: str) -> str | None:
    """Return the token of a form that was sent, or None when it is no form of ours."""
    match = _FORM_ID.fullmatch(custom_id)
    return None if match is None else match["token"]


def is_marked(message: Mapping[str, Any], mark: str) -> bool | None:
    """Tell whether a message of ours, as Discord keeps it, was posted with `mark`; None when it does not say.

    Discord forgets the nonce of a message soon. A card tells by its buttons until it is edited, and one that
    was edited was known to be there.
    """
    if message.get("nonce") is not None:
        return str(message["nonce"]) == mark
    for row in message.get("components") or ():
        for button in row.get("components", ()):
            custom_id = str(button.get("custom_id", ""))
            if custom_id.startswith("s2:"):
                return custom_id.startswith(f"s2:{mark}:")
    return False if message.get("edited_timestamp") else None


def modal(form: Form) -> dict[str, object] | None:
    """Return `form` as Discord takes it, or None when its field cannot hold all that it is to begin with."""
    if _TOKEN.fullmatch(form.token) is None or length(form.initial) > MAX_VALUE:
        return None
    field: dict[str, object] = {
        "type": 4,
        "custom_id": FIELD,
        "style": 2 if form.lines or "\n" in form.initial else 1,
        "required": form.required,
        "max_length": MAX_VALUE,
    }
    if form.hint:
        field["placeholder"] = cut(form.hint, MAX_HINT)
    if form.initial:
        field["value"] = form.initial
    return {
        "custom_id": f"f1:{form.token}",
        "title": cut(form.title, MAX_TITLE),
        "components": [{"type": 18, "label": cut(form.label, MAX_FIELD_LABEL), "component": field}],
    }
