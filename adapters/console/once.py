"""The front end that says one line and keeps what is answered, for commands that are a turn of their own."""

from adapters.console.front import GoneError, Said, Send
from bot.ports import Message

#: What the core greets whoever joins with; nobody joined to read that.
_GREETING = "join-"


class Once:
    """Says `text` and collects the answer, message by message, each as it stood last."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._shown: dict[str, str] = {}
        self._hints: list[str] = []

    @property
    def answer(self) -> list[str]:
        """What was answered; what the console itself had to say comes last."""
        return [*self._shown.values(), *self._hints]

    def show(self, key: str, message: Message) -> None:
        """Keep a message, or its change."""
        if not key.startswith(_GREETING):
            self._shown[key] = message.body.plain()

    def hint(self, text: str) -> None:
        """Keep a line of the console's own."""
        self._hints.append(text)

    async def run(self, send: Send) -> int:
        """Say it and wait until its turn has ended; 1 when it could not be sent."""
        try:
            await (await send(Said(text=self._text)))
        except GoneError as error:
            self.hint(str(error))
            return 1
        return 0
