"""A front end that says one line before whoever sits at it does: for commands that begin a conversation."""

from adapters.console.front import FrontEnd, GoneError, Said, Send
from bot.ports import Message


class Begun:
    """Says `first`, waits until that turn has ended, and is `front` from then on."""

    def __init__(self, front: FrontEnd, first: str) -> None:
        self._front = front
        self._first = first

    def show(self, key: str, message: Message) -> None:
        """Show a message, or the change of one that has this key."""
        self._front.show(key, message)

    def hint(self, text: str) -> None:
        """Show a line of the console's own."""
        self._front.hint(text)

    async def run(self, send: Send) -> int:
        """Say the first line, then read until the input ends; 1 when that could not be sent."""
        try:
            await (await send(Said(text=self._first)))
        except GoneError as error:
            self.hint(str(error))
            return 1
        return await self._front.run(send)
