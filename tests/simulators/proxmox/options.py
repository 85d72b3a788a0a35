"""Arguments as Proxmox VE's command line tools take them: `--name value`, `--name=value`, one dash too."""

from collections.abc import Sequence


def parse(argv: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Return the words and the options; an option without a value stands for 1."""
    words: list[str] = []
    options: dict[str, str] = {}
    left = list(argv)
    while left:
        word = left.pop(0)
        if not word.startswith("-") or word == "-":
            words.append(word)
            continue
        name, equals, value = word.lstrip("-").partition("=")
        if not equals:
            value = left.pop(0) if left and not left[0].startswith("-") else "1"
        options[name] = value
    return words, options
