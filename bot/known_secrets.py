"""What must never be shown literally: the secrets of the configuration, and those that runs were given.

A sequence that grows: whoever masks holds on to it, and sees what was learned since. Values shorter than
`SHORTEST` cannot be masked without making other words unreadable; whoever takes one in has to refuse it.
"""

import shlex
from collections.abc import Iterable, Sequence
from typing import overload

#: As `gate.redact` masks literally.
SHORTEST = 4


class KnownSecrets(Sequence[str]):
    """Secret values, each once. Any thread may read while another adds."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        self._values = tuple(dict.fromkeys(values))

    def learn(self, values: Iterable[str]) -> None:
        """Add values, as they are and as a shell takes them."""
        forms = [form for value in values if value for form in (value, shlex.quote(value))]
        self._values = tuple(dict.fromkeys([*self._values, *forms]))

    def __len__(self) -> int:
        return len(self._values)

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...

    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        return self._values[index]
