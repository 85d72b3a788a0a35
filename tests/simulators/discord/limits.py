"""What Discord refuses, with its error codes. Written apart from the adapter's own checks."""

from typing import Any

MAX_FILE = 10 * 1024 * 1024


class RefusalError(Exception):
    """An answer other than success."""

    def __init__(self, status: int, code: int, message: str, **more: Any) -> None:
        super().__init__(f"{status} {code}: {message}")
        self.status = status
        self.body = {"code": code, "message": message} | more


def invalid(path: str, message: str) -> RefusalError:
    return RefusalError(400, 50035, "Invalid Form Body", errors={path: {"_errors": [{"message": message}]}})


def check_message(data: dict[str, Any], files: dict[str, bytes]) -> None:
    """Refuse what Discord would not show."""
    content = data.get("content") or ""
    if len(content.encode("utf-16-le")) // 2 > 2000:
        raise invalid("content", "Must be 2000 or fewer in length.")
    if len(str(data.get("nonce") or "")) > 25:
        raise invalid("nonce", "Must be 25 or fewer in length.")
    check_rows(data.get("components") or [])
    attachments = data.get("attachments") or []
    if len(attachments) > 10:
        raise invalid("attachments", "Must be 10 or fewer in length.")
    for file in files.values():
        if len(file) > MAX_FILE:
            raise RefusalError(413, 40005, "Request entity too large")
    mentions = data.get("allowed_mentions")
    if mentions is not None and not set(mentions) <= {"parse", "users", "roles", "replied_user"}:
        raise invalid("allowed_mentions", "Unknown field")
    if not content.strip() and not data.get("components") and not attachments and not data.get("embeds"):
        raise RefusalError(400, 50006, "Cannot send an empty message")


def check_rows(rows: list[dict[str, Any]]) -> None:
    if len(rows) > 5:
        raise invalid("components", "Must be between 1 and 5 in length.")
    ids: list[str] = []
    for row in rows:
        buttons = row.get("components") or []
        if row.get("type") != 1 or not 1 <= len(buttons) <= 5:
            raise invalid("components", "Must be between 1 and 5 in length.")
        for button in buttons:
            if button.get("type") != 2 or button.get("style") not in {1, 2, 3, 4}:
                raise invalid("components", "Unknown component")
            label, custom_id = button.get("label") or "", button.get("custom_id") or ""
            if not 1 <= len(label.encode("utf-16-le")) // 2 <= 80:
                raise invalid("label", "Must be between 1 and 80 in length.")
            if not 1 <= len(custom_id) <= 100:
                raise invalid("custom_id", "Must be between 1 and 100 in length.")
            ids.append(custom_id)
    if len(ids) != len(set(ids)):
        raise invalid("components", "Component custom id cannot be duplicated")


def check_modal(data: dict[str, Any]) -> None:
    if not 1 <= len(data.get("title") or "") <= 45:
        raise invalid("title", "Must be between 1 and 45 in length.")
    if not 1 <= len(data.get("custom_id") or "") <= 100:
        raise invalid("custom_id", "Must be between 1 and 100 in length.")
    parts = data.get("components") or []
    if not 1 <= len(parts) <= 5:
        raise invalid("components", "Must be between 1 and 5 in length.")
    for part in parts:
        if part["type"] == 18:
            field, label = part["component"], part["label"]
        else:
            (field,) = part["components"]
            label = field.get("label") or ""
        if not 1 <= len(label) <= 45:
            raise invalid("label", "Must be between 1 and 45 in length.")
        if field["type"] != 4 or field.get("style") not in {1, 2}:
            raise invalid("components", "Unknown component")
        if len(field.get("placeholder") or "") > 100:
            raise invalid("placeholder", "Must be 100 or fewer in length.")
        if not 1 <= field.get("max_length", 4000) <= 4000 or len(field.get("value") or "") > 4000:
            raise invalid("max_length", "Must be between 1 and 4000.")


def pings(content: str, allowed: dict[str, Any] | None, users: list[int], roles: list[int]) -> list[str]:
    """Return whom a message of the bot pings: everybody named in it, unless the payload forbids it."""
    found = ["everyone" for word in ("@everyone", "@here") if word in content]
    found += [str(user) for user in users if f"<@{user}>" in content or f"<@!{user}>" in content]
    found += [str(role) for role in roles if f"<@&{role}>" in content]
    if allowed is None:
        return found
    parse = allowed.get("parse", [])
    return [one for one in found if ("everyone" if one == "everyone" else "users") in parse]
