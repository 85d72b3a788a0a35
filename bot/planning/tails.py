"""A pace at the end of a command in plain words: "on @web: systemctl reload nginx, canary first".

It is taken off where the command takes no such words; everywhere else they may be part of the command, and it
asks. What stands in backticks is never looked into.
"""

from dataclasses import replace

from bot.planning import grammar, pacing
from bot.planning.drafts import ActionDraft, Option, Question


def paced(draft: ActionDraft) -> ActionDraft | Question:
    """Return `draft` without the pace at the end of its command, or ask whether that is one.

    Raises:
        PaceError: it is one for certain, and cannot be followed.
    """
    tail = pacing.tail(draft.command)
    if tail is None:
        return draft
    command, found = grammar.trailing(tail.before)
    if not command:
        return draft
    said = pacing.Said(pace=draft.pace).joined(tail.said)
    without = replace(
        draft,
        command=command,
        target_words=pacing.ordered(draft.target_words, said.first),
        pace=said.pace,
        timeout_s=draft.timeout_s if found.timeout_s is None else found.timeout_s,
        verify=draft.verify or found.verify,
    )
    if pacing.takes_no_words(command) or found != grammar.Clauses():
        return without
    where = ", ".join(draft.target_words)
    return Question(
        text="This can be read in more than one way. Which one?",
        options=(
            Option(label=f"{command}   on {where}, {tail.words}", request=grammar.request_text(without)),
            Option(label=f"{draft.command}   on {where}", request=grammar.request_text(draft)),
        ),
    )
