"""Questions about a typed command: on which target, which of two readings, where does it end.

Each option is a whole request that reads back as exactly what its label says. Decides nothing: what is
unclear is found out in `literal`.
"""

from collections.abc import Sequence

from bot.planning import grammar, groups
from bot.planning.drafts import ActionDraft, Option, Question


def option(draft: ActionDraft) -> Option:
    """Return `draft` as a choice: the command and where it would run."""
    return Option(
        label=f"{draft.command}   on {', '.join(draft.target_words)}", request=grammar.request_text(draft)
    )


def where(command: str, drafts: Sequence[ActionDraft]) -> Question:
    """Ask on which target; `drafts` are the command on each."""
    return Question(
        text=f"On which target? {command}"
        if drafts
        else "No target is known. Add one to [targets] in the config.",
        options=tuple(
            Option(label=", ".join(one.target_words), request=grammar.request_text(one)) for one in drafts
        ),
    )


def which(readings: Sequence[tuple[ActionDraft, grammar.Clauses]]) -> Question:
    """Ask which reading is meant, each with the request that would follow it."""
    options = []
    for draft, found in readings:
        read = option(draft)
        if found.rest:
            following = grammar.next_request(found.rest)
            read = Option(label=f"{read.label}, then {following}", request=f"{read.request}\n{following}")
        options.append(read)
    return Question(text="This can be read in more than one way. Which one?", options=tuple(options))


def everywhere(meant: ActionDraft, typed: Sequence[ActionDraft]) -> Question:
    """Ask whether "everywhere" at the end of a command says where, or is part of it.

    Args:
        meant: where it is to run is what was said.
        typed: the command as it was typed, on each target.
    """
    return Question(
        text="This can be read in more than one way. Which one?", options=tuple(map(option, (meant, *typed)))
    )


def torn(text: str, draft: ActionDraft, *, tail: str) -> Question:
    """Ask about words, `tail`, that follow a known target and cannot be read."""
    first = next(iter(tail.strip(" \t,").lower().split()), "")
    if first in groups.WITHOUT:
        return Question(text=groups.leaving_out(f"run {draft.command}"))
    names = ", ".join(draft.target_words)
    return Question(
        text=f'Nothing ran. What follows "on {names}" is unclear. '
        f"Put the command in backticks: `{text}` on {names}.",
        options=(option(draft),),
    )


def end(text: str) -> Question:
    """Ask where the command ends."""
    return Question(
        text=f"Nothing ran. It is unclear where the command ends: {text}\n"
        "Write it as `command` on <target>, or put a command that holds backticks in a ``` block."
    )
