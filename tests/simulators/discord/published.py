"""What Discord publishes of its API, as a second opinion beside `limits`.

The files in schema/ are JSON Schemas made from npm's discord-api-spec 10.0.266135 (MIT, built from Discord's
own OpenAPI document); schema/README.md says how. They know types, enums and most lengths; `limits` knows what
they leave out (content over 2,000, rows, duplicates, empty messages).
"""

import functools
import json
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from tests.simulators.discord.limits import invalid

FOLDER = Path(__file__).parent / "schema"


def check(name: str, body: dict[str, Any]) -> None:
    """Refuse a body that the published schema `name` does not allow."""
    for fault in _validator(name).iter_errors(_as_published(body)):
        raise invalid("/".join(map(str, fault.absolute_path)), f"not as published: {fault.message[:300]}")


@functools.cache
def _validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(json.loads((FOLDER / f"{name}.json").read_text("utf-8")))


def _as_published(body: dict[str, Any]) -> dict[str, Any]:
    """Return `body` with its ids as text: discord.py sends some as numbers, which Discord takes too."""
    body = dict(body)
    if isinstance(body.get("data"), dict):
        body["data"] = _as_published(body["data"])
    if isinstance(body.get("message_reference"), dict):
        body["message_reference"] = _with_text_ids(body["message_reference"])
    if isinstance(body.get("attachments"), list):
        body["attachments"] = [_with_text_ids(one) for one in body["attachments"]]
    return body


def _with_text_ids(fields: dict[str, Any]) -> dict[str, Any]:
    return {key: str(value) if key == "id" or key.endswith("_id") else value for key, value in fields.items()}
