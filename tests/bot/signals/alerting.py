"""Alerts for tests: deliveries as an adapter hands them over, and a conversation that they reach."""

import contextlib
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from bot.ports import Account, Inbound, InboundKind, PlaceRef
from bot.settings.layers import Candidate, Layer
from gate.signals import Signal, SignalStatus, pack
from tests.kit import START, Kit, conversation

PLACES = {"alerts": "script::alerts"}


def settings(**values: object) -> dict[Layer, dict[str, Candidate]]:
    """Return the layers of a config file that sets these; "." in a key is written "__"."""
    named = {name.replace("__", "."): value for name, value in {"signals__place": "alerts", **values}.items()}
    return {
        Layer.FILE: {
            key: Candidate(layer=Layer.FILE, where="file", value=value)  # type: ignore[arg-type] # of any setting
            for key, value in named.items()
        }
    }


def alerting(folder: Path, *, level: str = "advise", more: Mapping[str, object] | None = None, **changes: Any) -> contextlib.AbstractAsyncContextManager[Kit]:
    """Return a conversation that alerts are shown in."""
    layers = settings(signals__autonomy=level, **(more or {}))
    return conversation(folder, settings=layers, places=PLACES, **changes)


def alert(
    name: str = "DiskFull",
    instance: str = "web1:9100",
    *,
    status: str = "firing",
    minutes: float = 0,
    labels: Mapping[str, str] | None = None,
    says: str = "/var is 93 % full",
    **changes: Any,
) -> Signal:
    """Return one signal of the source "am"."""
    made = Signal(
        source="am",
        fingerprint=f"{name}/{instance}",
        status=SignalStatus(status),
        starts_at=START + timedelta(minutes=minutes),
        labels={"alertname": name, "instance": instance, **(labels or {})},
        annotations={"summary": says} if says else {},
        severity="critical",
        group=f"{{}}:{{alertname={name}}}",
    )
    return replace(made, **changes)


class Sender:
    """Hands deliveries over, as the webhook adapter does."""

    def __init__(self, kit: Kit) -> None:
        self.kit, self.count = kit, 0

    async def send(self, *signals: Signal, event: str = "", sent_at: datetime | None = None) -> bool:
        """Deliver `signals`, wait until all is shown, and return whether that was new."""
        self.count += 1
        receipt = await self.kit.hand_over(
            Inbound(
                event_id=event or f"d{self.count}",
                place=PlaceRef(platform="webhook", channel=signals[0].source),
                account=Account(platform="webhook", user=signals[0].source, is_bot=True),
                sent_at=sent_at or self.kit.clock.now(),
                kind=InboundKind.SIGNAL,
                text=pack(signals),
                addressed=False,
            )
        )
        await receipt.settled
        await self.kit.app.conversation._delivery.flush()
        await self.kit.app.conversation._delivery.settled()
        return receipt.fresh


def texts(kit: Kit) -> list[str]:
    """Return everything on the screen."""
    return [one.text for one in kit.port.screen.values()]


def cards(kit: Kit, mark: str = "▲") -> Sequence[str]:
    """Return the cards of groups that are open, or over with "✓"."""
    return [text for text in texts(kit) if text.startswith(mark)]


__all__ = ["AsyncIterator", "Sender", "alert", "alerting", "cards", "settings", "texts"]
