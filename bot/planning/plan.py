"""The way into planning: one text in, one outcome out.

Order: a runbook by its id, the literal grammar of commands, then titles word for word, then several requests
in one sentence, then likeness. The first that is certain wins; it never mixes a guess with what was typed.
Pure: the same text against the same names and library gives the same outcome.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from bot.planning import compound, literal, pacing, runbooks, several, titles
from bot.planning.drafts import (
    ActionDraft,
    Option,
    Outcome,
    Plan,
    PlanSource,
    Question,
    RunbookPlan,
    Unplaced,
)
from bot.planning.grammar import Known, request_text
from bot.planning.library import Document, Library
from bot.planning.words import tokens

MAX_CHARS = 20_000
_WORDS_OF_A_NAME = 2

#: An option or an operator of the shell: the words may be a command that lacks its "run".
_SHELLISH = re.compile(r"(?:^|\s)--?[A-Za-z]|[|&;<>$]")

#: "run the disk check" names something; nobody types a command that begins with an article.
_NAMED = re.compile(r"(?:please\s+)?(?:run|do|execute)\s+(?=(?:the|a|an|my)\s)", re.IGNORECASE)


def plan(
    text: str,
    *,
    targets: Sequence[str],
    tags: Sequence[str],
    services: Mapping[str, Sequence[str]],
    library: Library,
) -> Outcome:
    """Read a request.

    Args:
        text: the whole message, control words already taken out.
        targets: slugs that may be addressed, in the order to offer them.
        tags: tags of targets, without "@".
        services: declared services and the targets each is on.
        library: documents to search.

    Returns:
        A Plan of ordered drafts, a RunbookPlan, a Question with readings to choose from, Unplaced with the
        nearest things that would work, or None where the text asks for nothing.
    """
    if len(text) > MAX_CHARS:
        return Question(text=f"Nothing ran. A request may hold up to {MAX_CHARS} characters.")
    known = Known(targets=tuple(targets), tags=tuple(tags))
    context = titles.Context(known=known, services=services, library=library, purpose=text.strip(" \t\r\n"))
    message = literal.bare(text)
    run = runbooks.parse(message, library=library, known=known) or _with_values(message, context=context)
    if isinstance(run, RunbookPlan) and not run.document.supervised:
        return titles.plainly(run, context=context)
    if run is not None:
        return run
    named = _NAMED.match(message)
    read = None if named else literal.parse(text, targets=targets, tags=tags)
    if isinstance(read, Plan):
        return _both(message, read, context=context) or read
    lines = [line for line in message.split("\n") if line.strip()]
    if len(lines) > 1 and "```" not in message:
        return _lines(lines, context=context) or read or _sentence(" ".join(lines), context=context)
    placed = read or _sentence(message[named.end() :] if named else message, context=context)
    return _as_command(message, placed, context=context)


def _as_command(message: str, placed: Outcome, *, context: titles.Context) -> Outcome:
    """Offer to run what is not placed but looks like a command: "df -hT on web1" lacks its "run"."""
    if (
        isinstance(placed, Plan | RunbookPlan)
        or placed is None
        or (isinstance(placed, Question) and not placed.options)
        or "`" in message
        or not _SHELLISH.search(message)
    ):
        return placed
    read = literal.parse(f"run {message}", targets=context.known.targets, tags=context.known.tags)
    if not isinstance(read, Plan):
        return placed
    typed = "\n".join(request_text(draft) for draft in read.drafts)
    option = Option(label=f"run {message}", request=typed)
    if isinstance(placed, Question):
        return replace(placed, options=(*placed.options, option))
    return Question(text="Nothing ran. A command begins with run. Is this one?", options=(option,))


def _with_values(message: str, *, context: titles.Context) -> RunbookPlan | Question | None:
    """Read "provision a container on pve1 with vmid=120"; None unless it is a runbook that is meant."""
    sentence, given = runbooks.split(message)
    found = titles.certain(tokens(sentence), context=context) if given else None
    if found is None or not all(match.document.supervised for match in found[0]):
        return None
    outcome = titles.settle(*found, context=replace(context, given=given))
    return None if isinstance(outcome, Plan) else outcome


def _both(message: str, read: Plan, *, context: titles.Context) -> Question | None:
    """Ask where "run disk usage on web1" is no command but words of the library."""
    draft = read.drafts[0]
    words = tokens(draft.command)
    if len(read.drafts) > 1 or "`" in message or "```" in message:
        return None
    runbook = context.library.documents.get(draft.command)
    if runbook is not None and runbook.supervised:
        return _which(runbooks.written(runbook, {}, targets=draft.target_words), runbook.title, draft)
    if len(words) < _WORDS_OF_A_NAME:
        return None
    found = titles.certain(words, context=context)
    if found is None or _first_word(found[0][0].document) == words[0].raw:
        return None
    named = titles.request_of(found[0][0], draft.target_words)
    return _which(named, titles.label_of(found[0][0], draft.target_words), draft)


def _which(named: str, label: str, draft: ActionDraft) -> Question:
    return Question(
        text="This names something in the library and could be a command too. Which one?",
        options=(
            Option(label=label, request=named),
            Option(label=f"{draft.command}, as a command", request=request_text(draft)),
        ),
    )


def _first_word(document: Document) -> str:
    return document.steps[0].command.split()[0] if document.steps else ""


def _lines(lines: Sequence[str], *, context: titles.Context) -> Plan | None:
    """Read each line as a request of its own; None unless every one is certain."""
    plans = []
    for line in lines:
        outcome = literal.parse(line, targets=context.known.targets, tags=context.known.tags) or _sentence(
            literal.bare(line), context=context
        )
        if not isinstance(outcome, Plan) or outcome.confidence < 1:
            return None
        plans.append(outcome)
    drafts = tuple(replace(draft, purpose=context.purpose) for plan in plans for draft in plan.drafts)
    literally = all(plan.source is PlanSource.LITERAL for plan in plans)
    return Plan(drafts=drafts, source=PlanSource.LITERAL if literally else PlanSource.DIAGNOSTIC)


def _sentence(text: str, *, context: titles.Context) -> Outcome:
    try:
        tail = pacing.tail(text.rstrip(" \t\r\n"))
        return _placed(text, context=context) if tail is None else _paced(tail, context=context)
    except pacing.PaceError as error:
        placed = _placed(text, context=context)
        # Of what asks for nothing, "see you, pause 2h", nothing is said either.
        return placed if isinstance(placed, Unplaced | None) else Question(text=str(error))


def _paced(tail: pacing.Tail, *, context: titles.Context) -> Outcome:
    """Read "disk space on @all, 20 at a time": the sentence, with what was said of the pace for all of it.

    Raises:
        PaceError: it cannot be followed.
    """
    placed = _placed(tail.before, context=context)
    match placed:
        case Plan():
            drafts = (
                replace(
                    one, pace=tail.said.pace, target_words=pacing.ordered(one.target_words, tail.said.first)
                )
                for one in placed.drafts
            )
            return replace(placed, drafts=tuple(drafts))
        case RunbookPlan():
            return Question(text=f'Nothing ran. A runbook has its own order: ask without "{tail.words}".')
        case Question():
            said = (replace(one, request=f"{one.request}, {tail.words}") for one in placed.options)
            return replace(placed, options=tuple(said))
        case _:
            return placed


def _placed(text: str, *, context: titles.Context) -> Outcome:
    if titles.certain(tokens(text), context=context) is None:
        asked = several.unclear(text, context=context) or compound.take_apart(text, context=context)
        return titles.place(text, context=context) if asked is None else asked
    return several.unclear(text, context=context) or titles.place(text, context=context)
