"""Bookmarks: where reading stopped in each place, from what the inbox remembers."""

from collections.abc import Sequence
from dataclasses import dataclass

from bot.ports import PlaceRef
from ledger.inbox import Inbox
from ledger.queries import Queries


@dataclass(frozen=True, slots=True)
class InboxBookmarks:
    """Bookmarks of one ledger."""

    inbox: Inbox
    queries: Queries

    def newest(self, platform: str) -> Sequence[tuple[PlaceRef, str]]:
        """Return every place of `platform` in which an operator ever spoke, with its newest message's id."""
        found: list[tuple[PlaceRef, str]] = []
        newest = self.inbox.newest(like=f"{platform}:%:m:%")
        for place, (name, tenant, channel, thread) in self.queries.places_on(platform).items():
            if (key := newest.get(place)) is not None:
                event = key.split(":", 2)[2]  # "platform:tenant:event"
                found.append((PlaceRef(platform=name, tenant=tenant, channel=channel, thread=thread), event))
        return found
