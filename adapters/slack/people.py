"""People: names of user ids, looked up beside the way of a message, so that none waits for a name."""

import asyncio
import logging
from collections import OrderedDict

from adapters.slack.web import Web
from bot.ports import RejectedError, UncertainError

log = logging.getLogger(__name__)

_KNOWN = 2_000


class People:
    """Display names. A name that is not known yet is its id, and known the next time."""

    def __init__(self, web: Web) -> None:
        self._web = web
        self._names: OrderedDict[str, str] = OrderedDict()
        self._asking: set[asyncio.Task[None]] = set()

    def name_of(self, user: str) -> str:
        """Return a name, or the id while it is not known."""
        if user.startswith(("U", "W")) and user not in self._names:
            self._names[user] = user
            if len(self._names) > _KNOWN:
                self._names.popitem(last=False)
            task = asyncio.create_task(self._ask(user))
            self._asking.add(task)
            task.add_done_callback(self._asking.discard)
        return self._names.get(user, user)

    async def _ask(self, user: str) -> None:
        try:
            told = await self._web.call(lambda client: client.users_info(user=user))
        except (RejectedError, UncertainError) as error:
            log.info("Slack: the name of %s is not known: %s", user, error)
            return
        profile = (told.get("user") or {}).get("profile") or {}
        name = profile.get("display_name") or profile.get("real_name") or (told.get("user") or {}).get("name")
        self._names[user] = str(name or user)

    async def close(self) -> None:
        """Stop asking."""
        for task in self._asking:
            task.cancel()
        await asyncio.gather(*self._asking, return_exceptions=True)
