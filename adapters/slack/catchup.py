"""Catching up: what was said while nobody listened, read from the history and delivered as if it came live.

Begins where the inbox ends, a little earlier: what was stored already is known by its id. Reads the channels
and the newest threads in which an operator ever spoke, and delivers in the order of Slack.
"""

import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable
from typing import Any

from adapters.slack.inbound import NAME, Reader, stamp_of, timestamp
from adapters.slack.web import SlackRefusedError, Web
from bot.ports import Bookmarks, Inbound, RejectedError, UncertainError

log = logging.getLogger(__name__)

Json = dict[str, Any]

#: Read again what is this much older than the newest known event, since events may overtake each other.
_MARGIN_US = 60 * 1_000_000
#: Threads read again after an absence, the newest first: each costs a call (about 50 a minute are allowed).
_THREADS = 40
_PAGE, _PAGES = 200, 10
#: The conversation is not there for us any more; nothing is to be read in it.
_GONE = frozenset({"channel_not_found", "thread_not_found", "not_in_channel", "is_archived"})


async def catch_up(
    web: Web,
    *,
    reader: Reader,
    marks: list[tuple[str, str, int]],
    deliver: Callable[[Inbound], Awaitable[bool]],
) -> int:
    """Deliver what was said since `marks`; return how many conversations could not be read to their end.

    Args:
        marks: (channel, thread, newest known event in microseconds) of each conversation.
        deliver: returns whether it was stored.
    """
    unread = 0
    for channel, threads in _by_channel(marks).items():
        found: dict[str, Json] = {}
        since = max(threads.values())
        whole = await _read(web, found, channel=channel, thread="", since=since)
        replied = {ts: since for ts, one in found.items() if one.get("reply_count")}
        for thread, at in {**threads, **replied}.items():
            whole = (
                not thread or await _read(web, found, channel=channel, thread=thread, since=at)
            ) and whole
        for ts in sorted(found):
            inbound = reader.message({**found[ts], "channel": channel})
            if inbound is not None and not await deliver(inbound):
                whole = False
                break
        unread += not whole
    return unread


def marks_of(bookmarks: Bookmarks) -> list[tuple[str, str, int]]:
    """Return where reading stopped, for `catch_up`; blocks on the store."""
    newest = bookmarks.newest(NAME)
    return [(place.channel, place.thread, at) for place, event in newest if (at := stamp_of(event))]


def _by_channel(marks: list[tuple[str, str, int]]) -> dict[str, dict[str, int]]:
    """Return the conversations by channel; "" is the channel itself, read from the newest event in it on."""
    grouped: dict[str, dict[str, int]] = defaultdict(dict)
    with_thread = sorted((mark for mark in marks if mark[1]), key=lambda mark: mark[2], reverse=True)
    for channel, thread, at in with_thread[:_THREADS]:
        grouped[channel][thread] = at
    for channel, _thread, at in marks:
        grouped[channel][""] = max(at, grouped[channel].get("", 0))
    return grouped


async def _read(web: Web, found: dict[str, Json], *, channel: str, thread: str, since: int) -> bool:
    """Add what was said in a channel or a thread to `found`; return whether that was all of it."""
    oldest = timestamp(max(0, since - _MARGIN_US))

    async def ask(client: Any, cursor: str) -> Any:  # noqa: ANN401 - of the SDK, see Web.pages
        common = {"channel": channel, "oldest": oldest, "limit": _PAGE, "cursor": cursor or None}
        if thread:
            return await client.conversations_replies(ts=thread, **common)
        return await client.conversations_history(**common)

    whole = False
    try:
        async for messages, is_last in web.pages(ask, most=_PAGES):
            found.update((str(one.get("ts")), one) for one in messages)
            whole = is_last
    except SlackRefusedError as error:
        if error.name not in _GONE:
            log.warning("Slack: %s could not be read: %s", channel, error)
        return error.name in _GONE
    except (RejectedError, UncertainError) as error:
        log.warning("Slack: %s could not be read: %s", channel, error)
        return False
    return whole
