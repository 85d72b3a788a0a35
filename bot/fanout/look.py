"""Look: when and where a card of a fan-out is looked at, and how what stands on it is masked.

A fan-out says the same of many targets, so what was masked once is remembered for the drawing of one card.
"""

from collections.abc import Sequence
from datetime import datetime, tzinfo

from bot.phrasing import shortened
from gate.domain import Deed
from gate.redact import redact, redact_command
from ledger.views import ActionView

#: Stands for the address of a target while a note is masked.
_HERE = "\ufffc"


class Look:
    """One look at a card.

    Args:
        secrets: literal values never shown.
        behind: what queued actions wait behind, in words.
        files: the place shows a file beside a message.
    """

    def __init__(
        self, *, now: datetime, zone: tzinfo, secrets: Sequence[str], behind: str = "", files: bool = False
    ) -> None:
        self.now = now
        self.zone = zone
        self.secrets = secrets
        self.behind = behind
        self.files = files
        #: What actions are called, by command and deed.
        self.headings: dict[tuple[str, Deed | None], str] = {}
        self._commands: dict[str, str] = {}
        self._shown: dict[str, str] = {}

    def command(self, text: str) -> str:
        """Return a command as people may see it: secrets masked, and nothing hidden that is executed."""
        if text not in self._commands:
            self._commands[text] = redact_command(text, extra=self.secrets).text
        return self._commands[text]

    def shown(self, text: str) -> str:
        """Return words or output as people may see them: secrets masked."""
        if text not in self._shown:
            self._shown[text] = redact(text, extra=self.secrets).text
        return self._shown[text]

    def note(self, one: ActionView) -> str:
        """Return what is noted of how `one` ended, as one line.

        Many are noted alike but for the address of their target, and such notes are masked once.
        """
        note, address = "" if one.ending is None else one.ending.note, one.action.target.address
        if not address:
            return self.line(note)
        return self.line(note.replace(address, _HERE)).replace(_HERE, address)

    def line(self, text: str, *, most: int = 200) -> str:
        """Return words as one line of at most `most` characters, secrets masked."""
        return shortened(" ".join(self.shown(text).split()), most=most)
