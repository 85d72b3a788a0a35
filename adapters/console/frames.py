r"""What crosses the socket: JSON Lines, one frame a line, UTF-8, a client's at most 1 MiB each.

Client to server, `id` unique for this user; sending it again is a redelivery and does nothing twice:

    {"id": "a1:1", "text": "run df -h on web1"}       say something
    {"id": "a1:2", "press": "<token>"}                press a button

Server to client:

    {"hello": "console::ana", "version": 1}           first, when let in
    {"show": "<key>", "message": {…}}                 a new message, or the change of the one with this key
    {"hint": "…"}                                     a line of the console's own
    {"stored": "<id>"}                                it is in the inbox
    {"settled": "<id>"}                               its turn has been answered and what it started has ended
    {"refused": "<id>", "why": "…"}                   it was not stored; nothing was done
    {"bye": "…"}                                      last, with the reason

A message is {"body": text, "buttons": [[label, token, style]…], "fold": text or null, "attachment": [name,
base64] or null}; text is a list of lines, a line a list of [characters, style]. Nothing here says who speaks:
the server asks the kernel.
"""

import base64
import json
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from bot.ports import Button, ButtonStyle, Message
from bot.text import Span, Style, Text, visible

VERSION = 1
MAX_CLIENT_FRAME_BYTES = 1_048_576
MAX_SERVER_FRAME_BYTES = 67_108_864  # the longest output that may be kept, and room

_WireText = tuple[tuple[tuple[str, Style], ...], ...]


class FrameError(Exception):
    """The other end sent something that is no frame; the connection is closed."""


class FromClient(BaseModel):
    """A frame of a client: exactly one of text and press."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)
    id: str
    text: str | None = None
    press: str | None = None


class _WireMessage(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)
    body: _WireText
    buttons: tuple[tuple[str, str, ButtonStyle], ...] = ()
    fold: _WireText | None = None
    attachment: tuple[str, str] | None = None


class FromServer(BaseModel):
    """A frame of the server: one of its fields says which."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)
    hello: str | None = None
    version: int = VERSION
    show: str | None = None
    message: _WireMessage | None = None
    hint: str | None = None
    stored: str | None = None
    settled: str | None = None
    refused: str | None = None
    why: str = ""
    bye: str | None = None


def encode(frame: Mapping[str, Any]) -> bytes:
    """Return a frame as one line."""
    return json.dumps(frame, separators=(",", ":")).encode() + b"\n"


def read_client(line: bytes) -> FromClient:
    """Parse a client's frame.

    Raises:
        FrameError: it is none.
    """
    try:
        frame = FromClient.model_validate_json(line)
    except ValidationError as error:
        raise FrameError(str(error.errors(include_url=False)[0]["msg"])) from None
    if (frame.text is None) == (frame.press is None):
        raise FrameError('a frame has either "text" or "press"')
    return frame


def read_server(line: bytes) -> FromServer:
    """Parse a server's frame.

    Raises:
        FrameError: it is none.
    """
    try:
        return FromServer.model_validate_json(line)
    except ValidationError as error:
        raise FrameError(str(error.errors(include_url=False)[0]["msg"])) from None


def pack(message: Message) -> dict[str, Any]:
    """Return a message as it crosses the wire."""
    attachment = message.attachment
    return {
        "body": _pack_text(message.body),
        "buttons": [[button.label, button.token, button.style] for button in message.buttons],
        "fold": None if message.fold is None else _pack_text(message.fold),
        "attachment": attachment and [attachment[0], base64.b64encode(attachment[1]).decode()],
    }


def unpack(wire: _WireMessage) -> Message:
    """Return the message that was packed."""
    return Message(
        body=_unpack_text(wire.body),
        buttons=tuple(Button(label=label, token=token, style=style) for label, token, style in wire.buttons),
        fold=None if wire.fold is None else _unpack_text(wire.fold),
        attachment=wire.attachment and (wire.attachment[0], base64.b64decode(wire.attachment[1])),
    )


def _pack_text(text: Text) -> list[list[list[str]]]:
    # Visible already here: half of a surrogate pair, say, could not cross.
    return [[[visible(span.text), span.style] for span in line] for line in text.lines]


def _unpack_text(wire: _WireText) -> Text:
    return Text(tuple(tuple(Span(text, style) for text, style in line) for line in wire))
