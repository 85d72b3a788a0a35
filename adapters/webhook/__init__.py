"""Webhook: where machines report, over HTTP: Alertmanager, Grafana, and whatever can send JSON (N40, D26).

`settings` is what the owner may set, `proof` who is let in, `formats` what senders send, `port` the listener,
`setup` what the owner does where. It decides nothing: what a report leads to is `bot.signals`'.
"""

from adapters.webhook.settings import Settings
from bot.ports import Bookmarks, ChatPort, Clock

__all__ = ["Settings", "create"]

#: Nobody converses here; nothing is shown.
CONVERSES = False


def create(settings: Settings, *, clock: Clock, bookmarks: Bookmarks, host: str = "") -> ChatPort:
    """Return the port, not listening yet.

    Args:
        bookmarks: not needed here: senders send again what was not taken.
        host: not needed here.

    Raises:
        adapters.webhook.settings.SecretError: a source has no usable secret; the message says what to do.
    """
    from adapters.webhook.port import WebhookPort  # noqa: PLC0415  # lazy: brings the library

    del bookmarks, host
    return WebhookPort(settings, secrets=settings.secrets(), clock=clock)
