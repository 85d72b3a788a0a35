"""Formats: what senders send, as signals.

Alertmanager's webhook (version 4) and Grafana's (version 1) as they document them; the generic form is ours.
What does not fit is refused with the field that is wrong, before anything of it is stored.

Source: https://prometheus.io/docs/alerting/latest/configuration/#webhook_config
Source: https://grafana.com/docs/grafana/latest/alerting/configure-notifications/manage-contact-points/integrations/webhook-notifier/
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from gate.signals import (
    ALERTNAME,
    MAX_NAME,
    MAX_SIGNALS,
    MAX_TEXT,
    MAX_VALUE,
    Signal,
    SignalError,
    SignalStatus,
    cut,
    texts,
)

#: Longer names of what is reported are shortened to their digest.
_LONGEST_KEY = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """What one request brought; `event` is the same for the same delivery, sent once more."""

    signals: tuple[Signal, ...]
    event: str


def read(form: str, body: bytes, *, source: str, now: datetime, stamp: str = "") -> Delivery:
    """Read the body of a request.

    Args:
        form: "alertmanager", "grafana" or "generic".
        stamp: the signed timestamp; "" where it was not signed.

    Raises:
        SignalError: it is not of that form; the message names the field.
    """
    try:
        doc = json.loads(body)
    except (ValueError, RecursionError):
        raise SignalError("the body is no JSON") from None
    try:
        signals = _READERS[form](doc, source, now, bool(stamp))
    except RecursionError:  # what can be read so deep cannot be written so deep
        raise SignalError("it is nested too deep") from None
    if not signals:
        raise SignalError("it reports nothing")
    seed = f"{stamp}\0".encode() if form == "generic" and not _names_itself(doc) else b""
    return Delivery(signals=signals, event=hashlib.sha256(seed + body).hexdigest())


# ---------------------------------------------------------------- Alertmanager and Grafana


def _alertmanager(doc: object, source: str, now: datetime, _signed: bool) -> tuple[Signal, ...]:  # noqa: FBT001 - of a table
    return _of_group(doc, source, now, version="4")


def _grafana(doc: object, source: str, now: datetime, _signed: bool) -> tuple[Signal, ...]:  # noqa: FBT001 - of a table
    return _of_group(doc, source, now, version="1")


def _of_group(doc: object, source: str, now: datetime, *, version: str) -> tuple[Signal, ...]:
    outer = _object(doc, "the body")
    if str(outer.get("version", version)) != version:
        raise SignalError(
            f"version is {cut(outer['version'], MAX_NAME)}, and {version} is what is known here"
        )
    group = _key(outer.get("groupKey"))
    return tuple(
        _of_alert(_object(one, f"alerts[{number}]"), f"alerts[{number}]", source, now, group=group)
        for number, one in enumerate(_list(outer.get("alerts"), "alerts"))
    )


def _of_alert(doc: Mapping[str, object], where: str, source: str, now: datetime, *, group: str) -> Signal:
    labels = texts(doc.get("labels"), field_name=f"{where}.labels", most=MAX_VALUE)
    annotations = texts(doc.get("annotations"), field_name=f"{where}.annotations", most=MAX_TEXT)
    fingerprint = _key(doc.get("fingerprint")) or _digest(labels)
    return Signal(
        source=source,
        fingerprint=fingerprint,
        status=_status(doc.get("status"), f"{where}.status"),
        starts_at=_instant(doc.get("startsAt"), f"{where}.startsAt", now),
        labels=labels,
        annotations=annotations,
        severity=labels.get("severity", ""),
        group=group,
    )


# ---------------------------------------------------------------- the generic form


def _generic(doc: object, source: str, now: datetime, signed: bool) -> tuple[Signal, ...]:  # noqa: FBT001 - of a table
    found = doc.get("signals", [doc]) if isinstance(doc, dict) else doc
    listed = _list(found, "signals")
    return tuple(
        _of_report(_object(one, f"signals[{number}]"), f"signals[{number}]", source, now, signed=signed)
        for number, one in enumerate(listed)
    )


_FIELDS = frozenset(
    (
        "id",
        "name",
        "status",
        "fingerprint",
        "labels",
        "annotations",
        "summary",
        "severity",
        "group",
        "starts_at",
    )
)


def _of_report(doc: Mapping[str, object], where: str, source: str, now: datetime, *, signed: bool) -> Signal:
    if strange := sorted(set(doc) - _FIELDS):
        raise SignalError(
            f"{where}.{cut(strange[0], MAX_NAME)} is not known; {', '.join(sorted(_FIELDS))} are"
        )
    labels = texts(doc.get("labels"), field_name=f"{where}.labels", most=MAX_VALUE)
    if doc.get("name"):
        labels = {**labels, ALERTNAME: cut(doc["name"], MAX_VALUE)}
    if not labels.get(ALERTNAME):
        raise SignalError(f"{where}.name is missing")
    if not (doc.get("id") or doc.get("starts_at") or signed):
        raise SignalError(f"{where} needs id or starts_at, so that it is known when it is sent twice")
    annotations = texts(doc.get("annotations"), field_name=f"{where}.annotations", most=MAX_TEXT)
    if doc.get("summary"):
        annotations = {**annotations, "summary": cut(doc["summary"], MAX_TEXT)}
    return Signal(
        source=source,
        fingerprint=_key(doc.get("fingerprint")) or _digest(labels),
        status=_status(doc.get("status", "firing"), f"{where}.status"),
        starts_at=_instant(doc.get("starts_at") or now.isoformat(), f"{where}.starts_at", now),
        labels=labels,
        annotations=annotations,
        severity=cut(doc.get("severity") or labels.get("severity", ""), MAX_NAME),
        group=_key(doc.get("group")),
    )


def _names_itself(doc: object) -> bool:
    """Whether a generic delivery says what makes it the same when it is sent once more."""
    listed = doc.get("signals", [doc]) if isinstance(doc, dict) else doc
    return isinstance(listed, list) and all(
        isinstance(one, dict) and (one.get("id") or one.get("starts_at")) for one in listed
    )


# ---------------------------------------------------------------- fields


def _object(value: object, where: str) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise SignalError(f"{where} is no object")
    return value


def _list(value: object, where: str) -> Sequence[object]:
    if not isinstance(value, list):
        raise SignalError(f"{where} is no list")
    if len(value) > MAX_SIGNALS:
        raise SignalError(f"{where} holds {len(value)} entries; the most is {MAX_SIGNALS}")
    return value


def _status(value: object, where: str) -> SignalStatus:
    try:
        return SignalStatus(str(value))
    except ValueError:
        raise SignalError(f"{where} has to be firing or resolved") from None


def _instant(value: object, where: str, now: datetime) -> datetime:
    """Return when it began; what claims to begin later than now began now."""
    try:
        found = datetime.fromisoformat(str(value))
        found = found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        raise SignalError(f"{where} is no time such as 2026-03-02T14:00:00Z") from None
    return min(found, now)


def _key(value: object) -> str:
    text = "" if value is None else cut(value, 1_000_000)
    return text if len(text) <= _LONGEST_KEY else hashlib.sha256(text.encode()).hexdigest()


def _digest(labels: Mapping[str, str]) -> str:
    return hashlib.sha256(json.dumps(labels, sort_keys=True).encode()).hexdigest()[:16]


_READERS: Mapping[str, Callable[[object, str, datetime, bool], tuple[Signal, ...]]] = {
    "alertmanager": _alertmanager,
    "grafana": _grafana,
    "generic": _generic,
}
