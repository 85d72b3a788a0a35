"""Rules of the owner: which labels mean which target and what is done about them (`[[signals.match]]`)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalRule:
    """One rule; the first that fits counts.

    Attributes:
        labels: every one of these has to be there with this value; "*" in it stands for anything.
        target: the one target; "" for the one that the labels name.
        runbook: id of a document of the library; "" for none. `inputs` are its values.
        command: instead of a runbook, the exact command. `verify` is run after it, and only reads.
    """

    labels: Mapping[str, str]
    target: str = ""
    runbook: str = ""
    inputs: Mapping[str, str] = field(default_factory=dict)
    command: str = ""
    verify: str = ""

    def fits(self, labels: Mapping[str, str]) -> bool:
        """Whether the rule is about a signal with these labels."""
        return all(name in labels and fnmatchcase(labels[name], want) for name, want in self.labels.items())
