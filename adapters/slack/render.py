"""Rendering: what the core wants shown, as Slack payloads.

Everything goes out as `rich_text`, whose text elements are shown as they are: no markup to escape, no mention
that could ping, and no fence that a command could close. The fallback `text` (notifications) is markup, so it
is escaped. Pure; sends nothing and decides nothing. The rule it owns: a payload that Slack would refuse is
refused here, for edits as for posts.
"""

import itertools
import json
from collections.abc import Mapping, Sequence
from typing import Any

from bot.fitting import Fitted, fit
from bot.ports import Button, ButtonStyle, Form, Message
from bot.text import Span, Style, Text, block, visible

Json = dict[str, Any]

#: Slack refuses about 12,000 characters of blocks, containers counted in some unsaid way; reports of refusals
#: begin at 11,341 characters of text and 13,172 of JSON.
#: Source: github.com/slackapi/bolt-js/issues/2509 and 2867.
MAX_TEXT, MAX_JSON = 8_000, 11_000
#: Text of this size in so many spans, lines and buttons cannot reach MAX_JSON.
_SURELY, _FEW = 2_000, 24
#: One text element; no limit is documented, 3,000 is that of every other text object of Slack.
_ELEMENT = 3_000
#: `text` of chat.update is refused from 4,000 on (msg_too_long); it is only what a notification shows.
_FALLBACK = 1_000
#: Source: docs.slack.dev/reference/block-kit/block-elements/button-element.
_LABEL, MAX_BUTTONS = 75, 25
_TOKEN = 32
#: Source: docs.slack.dev/reference/views.
_TITLE, _FIELD, _HINT, _VALUE = 24, 2_000, 150, 3_000

#: What marks a button or a form as ours; the 1 is the version of the payload.
PREFIX = "s1:"
FORM = "sayso_form_1"
FORM_BLOCK, FORM_FIELD = "answer", "text"
METADATA = "sayso_message"

_STYLES: Mapping[Style, Json] = {
    Style.STRONG: {"bold": True},
    Style.MUTED: {"italic": True},
    Style.CODE: {"code": True},
}
_BUTTONS: Mapping[ButtonStyle, str] = {ButtonStyle.GO: "primary", ButtonStyle.STOP: "danger"}


class UnfitError(ValueError):
    """This message cannot be shown on Slack; that is a bug of whoever made it."""


def fitted(message: Message) -> Fitted:
    """Return what of `message` is shown inline, and the files beside it.

    Raises:
        UnfitError: no form of it can be shown.
    """
    try:
        return fit(message, lambda text: _fits(text, message.buttons))
    except ValueError as error:
        raise UnfitError(str(error)) from error


def _fits(text: Text, buttons: Sequence[Button]) -> bool:
    size = units(text.plain())
    if size > MAX_TEXT:
        return False
    if size <= _SURELY and sum(map(len, text.lines)) + len(text.lines) + len(buttons) <= _FEW:
        return True  # most messages, and every one of a card that grows
    return units(json.dumps(blocks(text, buttons), ensure_ascii=False)) <= MAX_JSON


def units(text: str) -> int:
    """Return the length in UTF-16 code units, the largest that Slack may be counting."""
    return len(text) + sum(char > "\uffff" for char in text)


def cut(text: str, most: int) -> str:
    """Return `text` in at most `most` UTF-16 code units, an ellipsis where some is missing."""
    if units(text) <= most:
        return text
    kept, left = [], most - 1
    for char in text:
        left -= units(char)
        if left < 0:
            break
        kept.append(char)
    return "".join(kept) + "…"


# ---------------------------------------------------------------- messages


def payload(text: Text, buttons: Sequence[Button] = ()) -> Json:
    """Return the arguments of chat.postMessage, chat.postEphemeral and chat.update that say what is shown.

    Raises:
        UnfitError: Slack would refuse it.
    """
    if not _fits(text, buttons):
        raise UnfitError("the text is too long for one Slack message")
    return {"text": fallback(text), "blocks": blocks(text, buttons)}


def blocks(text: Text, buttons: Sequence[Button] = ()) -> list[Json]:
    """Return the blocks; block ids differ within a message.

    Raises:
        UnfitError: too many buttons, or a token that is none.
    """
    made: list[Json] = [{"type": "rich_text", "block_id": "text", "elements": _elements(text)}]
    if buttons:
        made.append({"type": "actions", "block_id": "buttons", "elements": _buttons(buttons)})
    return made


def fallback(text: Text) -> str:
    """Return what a notification shows: escaped, so that nothing in it is a mention or a link."""
    return escape(cut(text.plain().strip() or "…", _FALLBACK))


def escape(text: str) -> str:
    """Return `text` with the three characters escaped that Slack gives a meaning."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _elements(text: Text) -> list[Json]:
    """Return a section for every run of lines and a preformatted part for every block."""
    elements: list[Json] = []
    lines: list[tuple[Span, ...]] = []
    for line in text.lines:
        if len(line) == 1 and line[0].style is Style.BLOCK:
            _close(elements, lines)
            shown = visible(line[0].text) or " "
            elements.append({"type": "rich_text_preformatted", "elements": _pieces(shown)})
        else:
            lines.append(line)
    _close(elements, lines)
    return elements or [{"type": "rich_text_section", "elements": _pieces("…")}]


def _close(elements: list[Json], lines: list[tuple[Span, ...]]) -> None:
    """Turn the lines gathered so far into one section."""
    if not lines:
        return
    runs: list[tuple[str, Json | None]] = []
    for index, line in enumerate(lines):
        shown = [(visible(span.text), _STYLES.get(span.style)) for span in line]
        for text, style in [("\n", None), *shown] if index else shown:
            if runs and runs[-1][1] == style:
                runs[-1] = (runs[-1][0] + text, style)
            else:
                runs.append((text, style))
    lines.clear()
    pieces = [piece for text, style in runs for piece in _pieces(text, style)]
    if pieces:
        elements.append({"type": "rich_text_section", "elements": pieces})


def _pieces(text: str, style: Json | None = None) -> list[Json]:
    """Return text elements; Slack refuses an empty one."""
    return [
        {"type": "text", "text": text[start : start + _ELEMENT], **({"style": style} if style else {})}
        for start in range(0, len(text), _ELEMENT)
    ]


def _buttons(buttons: Sequence[Button]) -> list[Json]:
    if len(buttons) > MAX_BUTTONS:
        raise UnfitError(f"{len(buttons)} buttons; Slack takes {MAX_BUTTONS}")
    return [_button(index, button) for index, button in enumerate(buttons)]


def _button(index: int, button: Button) -> Json:
    if not 0 < len(button.token) <= _TOKEN or not button.token.isascii():
        raise UnfitError("a button's token is 1 to 32 ASCII characters")
    element: Json = {
        "type": "button",
        # NOTE: the token stands in the value; an action id must differ within its block, tokens need not.
        "action_id": f"{PREFIX}{index}",
        "text": {"type": "plain_text", "text": _label(button.label), "emoji": False},
        "value": PREFIX + button.token,
    }
    style = _BUTTONS.get(button.style)
    return {**element, "style": style} if style else element


def _label(label: str) -> str:
    return cut(visible(label).replace("\n", " ").strip() or "…", _LABEL)


# ---------------------------------------------------------------- several messages


def parts(message: Message) -> list[Text]:
    """Return `message` as texts that each fit, for what can have no file beside it. Nothing is left out."""
    whole = message.body if message.fold is None else message.body + message.fold
    if message.attachment is not None:
        name, content = message.attachment
        whole += Text.of(name, block(content.decode("utf-8", "replace")))
    made: list[Text] = []
    lines: tuple[tuple[Span, ...], ...] = ()
    for line in itertools.chain.from_iterable(map(_split, whole.lines)):
        if lines and not _fits(Text((*lines, line)), message.buttons):
            made.append(Text(lines))
            lines = ()
        lines = (*lines, line)
    return [*made, Text(lines)]


def _split(line: tuple[Span, ...]) -> list[tuple[Span, ...]]:
    """Return a line as lines that are each short enough for a message of their own."""
    if sum(len(span.text) for span in line) <= _ELEMENT // 8:
        return [line]
    pieces: list[tuple[Span, ...]] = []
    for span in line:
        shown = visible(span.text)
        pieces.extend(
            (Span(shown[start : start + _ELEMENT], span.style),) for start in range(0, len(shown), _ELEMENT)
        )
    return pieces


# ---------------------------------------------------------------- forms


def view(form: Form, *, channel: str, thread: str, card: str) -> Json:
    """Return the modal for `form`; all that its answer needs travels in it, so it outlives a restart."""
    field: Json = {
        "type": "plain_text_input",
        "action_id": FORM_FIELD,
        "multiline": form.lines,
        "max_length": _VALUE,
        "min_length": 1 if form.required else 0,
    }
    if form.hint:
        field["placeholder"] = _plain(form.hint, _HINT)
    if form.initial and units(form.initial) <= _VALUE:
        field["initial_value"] = form.initial
    return {
        "type": "modal",
        "callback_id": FORM,
        "private_metadata": json.dumps({"c": channel, "t": thread, "m": card, "k": PREFIX + form.token}),
        "title": _plain(form.title, _TITLE),
        "submit": _plain("Send", _TITLE),
        "close": _plain("Cancel", _TITLE),
        "blocks": [
            {
                "type": "input",
                "block_id": FORM_BLOCK,
                "optional": not form.required,
                "label": _plain(form.label, _FIELD),
                "element": field,
            }
        ],
    }


def _plain(text: str, most: int) -> Json:
    return {"type": "plain_text", "text": cut(visible(text).strip() or "…", most), "emoji": False}
