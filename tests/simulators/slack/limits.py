"""What Slack refuses in a payload: slack_sdk.models as the first net, own checks for the holes in it.

The holes (found by trying): duplicate action ids and block ids, no elements, fields over 2,000, inputs over
3,000, a modal with an input and no submit, over 50 blocks in a message, unknown block types, empty texts.
"""

import json
from collections.abc import Iterator
from typing import Any

from slack_sdk.errors import SlackObjectFormationError
from slack_sdk.models.blocks import Block
from slack_sdk.models.views import View

Json = dict[str, Any]

MAX_BLOCKS = 50
MAX_TEXT, MAX_UPDATE_TEXT = 40_000, 4_000
#: Refusals were reported from 11,341 characters of text and 13,172 of JSON on (bolt-js #2509, #2867).
MAX_BLOCK_TEXT, MAX_BLOCK_JSON = 11_300, 13_100


def message_problem(payload: Json, *, is_update: bool = False) -> tuple[str, str] | None:
    """Return (error, details) as Slack would refuse a message; None when it would take it."""
    blocks, text = payload.get("blocks") or [], payload.get("text") or ""
    if not blocks and not text.strip():
        return "no_text", ""
    if units(text) > (MAX_UPDATE_TEXT if is_update else MAX_TEXT):
        return "msg_too_long", ""
    if len(blocks) > MAX_BLOCKS:
        return "invalid_blocks", "no more than 50 items allowed [json-pointer:/blocks]"
    wrong = next(blocks_problems(blocks), None)
    if wrong is not None:
        return "invalid_blocks", wrong
    size = units(json.dumps(blocks, ensure_ascii=False))
    too_long = sum(units(one) for one in texts(blocks)) > MAX_BLOCK_TEXT or size > MAX_BLOCK_JSON
    return ("msg_blocks_too_long", "") if too_long else None


def view_problem(view: Json) -> str | None:
    """Return what is wrong with a modal; None when Slack would open it."""
    try:
        View(**view).to_dict()
    except (SlackObjectFormationError, TypeError, ValueError) as error:
        return str(error)
    if any(one.get("type") == "input" for one in view["blocks"]) and not view.get("submit"):
        return "submit is required when there is an input block"
    for one in view["blocks"]:
        element = one.get("element") or {}
        if element.get("max_length", 0) > 3_000:
            return "max_length must not be more than 3000"
        if units(element.get("initial_value", "")) > element.get("max_length", 3_000):
            return "initial_value is longer than max_length"
    return next(blocks_problems(view["blocks"]), None)


def blocks_problems(blocks: list[Json]) -> Iterator[str]:
    """Yield what is wrong with blocks."""
    ids = [one["block_id"] for one in blocks if one.get("block_id")]
    if len(ids) != len(set(ids)):
        yield "duplicate block_id"
    for one in blocks:
        parsed = Block.parse(one)
        if parsed is None:
            yield f"unsupported type: {one.get('type')}"
            continue
        try:
            parsed.to_dict()
        except SlackObjectFormationError as error:
            yield str(error)
        yield from _holes(one)


def _holes(block: Json) -> Iterator[str]:
    match block.get("type"):
        case "actions":
            yield from _actions(block.get("elements") or [])
        case "section":
            for one in block.get("fields") or ():
                if units(one["text"]) > 2_000:
                    yield "field text must be less than 2001 characters"
        case "rich_text":
            yield from _rich_text(block)


def _actions(elements: list[Json]) -> Iterator[str]:
    actions = [one.get("action_id") for one in elements]
    if not elements:
        yield "actions need at least one element"
    if len(actions) != len(set(actions)):
        yield "duplicate action_id"
    for one in elements:
        if not one["text"]["text"].strip() or units(one["text"]["text"]) > 75:
            yield "button text must be 1 to 75 characters"
        if len(one.get("value") or "") > 2_000:
            yield "button value must be less than 2001 characters"


def _rich_text(block: Json) -> Iterator[str]:
    if not block.get("elements"):
        yield "rich_text needs elements"
    for part in block.get("elements") or ():
        if part.get("type") not in {"rich_text_section", "rich_text_preformatted", "rich_text_quote"}:
            yield f"unsupported element: {part.get('type')}"
        if not part.get("elements"):
            yield f"{part.get('type')} needs elements"
        for one in part.get("elements") or ():
            if one.get("type") == "text" and not one.get("text"):
                yield "text must be more than 0 characters"
            if set(one.get("style") or ()) - {"bold", "italic", "strike", "code"}:
                yield "unknown style"


def texts(value: Any) -> Iterator[str]:
    """Yield every string under a key `text`, which is how the reports counted."""
    if isinstance(value, list):
        for one in value:
            yield from texts(one)
    elif isinstance(value, dict):
        for key, one in value.items():
            if key == "text" and isinstance(one, str):
                yield one
            else:
                yield from texts(one)


def pings(payload: Json) -> Iterator[str]:
    """Yield every mention in a payload that would notify somebody."""
    yield from _marked_up(payload.get("text") or "")
    yield from _elements(payload.get("blocks") or [])


def _marked_up(text: str) -> Iterator[str]:
    for start in ("<!", "<@", "<#"):
        if start in text:
            yield text[text.index(start) :][:40]


def _elements(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for one in value:
            yield from _elements(one)
    elif isinstance(value, dict):
        if value.get("type") in {"user", "broadcast", "usergroup", "channel", "link"}:
            yield json.dumps(value)
        if value.get("type") == "mrkdwn":
            yield from _marked_up(value["text"])
        for one in value.values():
            yield from _elements(one)


def units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
