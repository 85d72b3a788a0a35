"""What is so on a simulated machine, and the words that every program of it reads its arguments with.

A starter runbook calls these programs dozens of times, so they load next to nothing: no json, no pathlib.
"""

import io
import marshal

SUFFIXES = (".service", ".timer", ".socket", ".mount")
#: What a program ends with that was called in a way that is not played.
UNKNOWN = 64


class Machine:
    """What is so, kept in `state.json`."""

    def __init__(self, folder: str) -> None:
        self._file = f"{folder}/state"
        self.state = self._read()

    def save(self) -> None:
        """Write it back."""
        with io.FileIO(self._file, "w") as file:
            file.write(marshal.dumps(self.state))

    def _read(self) -> dict:
        with io.FileIO(self._file) as file:
            return marshal.loads(file.readall())

    def unit(self, name: str) -> dict | None:
        """Return a unit by its name, with or without its suffix."""
        found: dict | None = self.state["units"].get(full(name))
        return found

    def log(self, unit: str, text: str, priority: str = "info") -> None:
        """Write a line to the journal."""
        self.state["journal"].append({"unit": full(unit), "priority": priority, "text": text})


def full(name: str) -> str:
    """Return the name of a unit with its suffix."""
    return name if name.endswith(SUFFIXES) else f"{name}.service"


def failed(machine: Machine) -> list[str]:
    """Return the units that failed, by name."""
    return sorted(name for name, unit in machine.state["units"].items() if unit["active"] == "failed")


def parsed(argv: list[str], *, takes: tuple[str, ...]) -> tuple[list[str], dict[str, list[str]]]:
    """Return the words and the options of a line; an option in `takes` has its value in the next word."""
    words: list[str] = []
    options: dict[str, list[str]] = {}
    left = list(argv)
    while left:
        word = left.pop(0)
        if not word.startswith("-"):
            words.append(word)
        elif "=" in word:
            name, value = word.split("=", 1)
            options.setdefault(name, []).append(value)
        else:
            options.setdefault(word, []).append(left.pop(0) if word in takes else "")
    return words, options


def print_log(entries: list[dict[str, str]], *, bare: bool = False) -> None:
    """Write lines of the journal as journalctl does."""
    for one in entries:
        head = "" if bare else f"Mar 02 13:59:00 web1 {one['unit'].removesuffix('.service')}[812]: "
        print(f"{head}{one['text']}")
