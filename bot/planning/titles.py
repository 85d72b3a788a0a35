"""Places a plain sentence in the library: "disk space on web1?", "restart caddy on web1".

Certain is only an exact match of a title or alias with fitting values. Something like a read-only title runs
with a confidence below 1; something like a title that changes anything is asked about, never proposed (D14).
Several requests in one sentence are taken apart; a condition between them is left to a person.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from rapidfuzz import fuzz, process

from bot.planning import binding, groups, runbooks
from bot.planning.addressing import Addressed, address, unknown_target
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
from bot.planning.grammar import Known
from bot.planning.library import SLOT, TARGET_SLOT, Document, Library
from bot.planning.matching import Match, alike, exact, incomplete, is_slip, typed
from bot.planning.words import CHANGES, DOUBTS, Token, is_chatter, tokens
from gate.supervise.domain import DECLARED, InputType

MAX_OPTIONS = 10
_CERTAIN_ENOUGH = 0.8
_WORTH_ASKING = 0.55
_MARGIN = 0.05
_LONG_WORD = 5
_RUNNER_UP = 0.2
_WORTH_NAMING = 0.4
#: Named when nothing is near, where the library has them.
_FALLBACK = ("overview", "disk", "service-logs")
_SERVICE_TYPO = 78.0
_NEAREST = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What the sentence is read against, and the sentence itself as the purpose.

    `given` are inputs of a runbook that were said by name.
    """

    known: Known
    services: Mapping[str, Sequence[str]]
    library: Library
    purpose: str
    given: Mapping[str, str] = field(default_factory=dict)

    def service(self, name: str) -> str | None:
        """Return the known service meant by `name` ("Caddy", "caddy.service"), or None."""
        folded = name.casefold().removesuffix(".service")
        return next((service for service in self.services if service.casefold() == folded), None)


def place(text: str, *, context: Context) -> Outcome:
    """Read one sentence; None where it is small talk."""
    if is_chatter(text):
        return None
    words = tokens(text)
    found = certain(words, context=context)
    if found is not None:
        return _slipped(words, *found, context=context) or settle(*found, context=context)
    for addressed in _addressings(words, context=context):
        lacking = incomplete(addressed.words, library=context.library)
        if lacking:
            if lacking[0].document.supervised:
                return _run(lacking[0], addressed.targets, context=context)
            about_services = [match for match in lacking if InputType.SERVICE in _types(match)]
            return _ask_value((about_services or list(lacking))[0], addressed.targets, context=context)
    return _likely(words, context=context)


def _slipped(
    words: Sequence[Token], matches: tuple[Match, ...], targets: tuple[str, ...], *, context: Context
) -> Question | None:
    """Ask when a slot holds what may be a misspelt word of another title: "ip adress", "cnotainers"."""
    vocabulary = context.library.vocabulary
    exactly = matches[0]
    for value in exactly.values.values():
        word = value.casefold()
        if (
            context.service(value)
            or word in vocabulary
            or len(word) < _LONG_WORD
            or not is_slip(word, vocabulary)
        ):
            continue
        addressed = _addressings(words, context=context)[0]
        near = alike(addressed.words, library=context.library, services=context.services)
        if near and near[0].score >= _CERTAIN_ENOUGH and value not in near[0].values.values():
            meant, typed = _option(near[0], targets), _literal(exactly, targets)
            text = f"Nothing ran. Did you mean {meant.label}?"
            return Question(
                text=text, options=(meant, Option(label=request_of(exactly, targets), request=typed))
            )
    return None


def certain(words: Sequence[Token], *, context: Context) -> tuple[tuple[Match, ...], tuple[str, ...]] | None:
    """Return the exact matches with the fewest slots and the targets; None where there is none."""
    for addressed in _addressings(words, context=context):
        matches = exact(addressed.words, library=context.library)
        matches = matches or typed(addressed.words, library=context.library)
        if matches:
            fewest = len(matches[0].pattern.slots)
            return tuple(m for m in matches if len(m.pattern.slots) == fewest), addressed.targets
    return None


def _addressings(words: Sequence[Token], *, context: Context) -> tuple[Addressed, ...]:
    first = address(words, known=context.known, services=context.services)
    other = None if first.targets else unknown_target(words)
    return (first,) if other is None else (first, other)


# ---------------------------------------------------------------- from a match to a plan


def settle(
    matches: Sequence[Match], targets: tuple[str, ...], *, context: Context
) -> Plan | RunbookPlan | Question:
    """Turn what was matched into drafts or a runbook's plan, or ask what a draft lacks."""
    if len(matches) > 1:
        known = [match for match in matches if any(context.service(value) for value in match.values.values())]
        if len(known) != 1:
            return _choose(matches, targets)
        matches = known
    match = _spelt(matches[0], context=context)
    if match.document.supervised:
        question = _ask_service(match, targets, context=context)
        return question or _run(match, targets, context=context)
    if match.missing:
        return _ask_value(match, targets, context=context)
    if (question := _ask_service(match, targets, context=context)) is not None:
        return question
    return _drafts(match, targets, context=context) if targets else _where(match, context=context)


def _spelt(match: Match, *, context: Context) -> Match:
    values = {
        name: (context.service(value) or value) if _is_service(match.document, name) else value
        for name, value in match.values.items()
    }
    return replace(match, values=values)


def _types(match: Match) -> set[InputType]:
    return {match.document.inputs[name].type for name in match.missing}


def _is_service(document: Document, name: str) -> bool:
    return document.inputs[name].type is InputType.SERVICE


def service_of(match: Match) -> str | None:
    """Return the service that a match names, or None."""
    return next((value for name, value in match.values.items() if _is_service(match.document, name)), None)


def _run(match: Match, targets: tuple[str, ...], *, context: Context) -> RunbookPlan | Question:
    """Return the plan of a runbook; what it lacks is asked by whoever starts runs (`bot.runbooks.inputs`)."""
    values = {**match.values, **context.given}
    service = service_of(match)
    hosts = tuple(context.services.get(service, ())) if service and not targets else ()
    where = targets or (hosts if len(hosts) == 1 else ())
    return runbooks.filled(match.document, values, targets=where, confidence=match.score)


def plainly(plan: RunbookPlan, *, context: Context) -> Plan | Question:
    """Return the drafts of a plain document that was asked for by its id."""
    document = plan.document
    if plan.wrong or plan.missing:
        names = ", ".join(dict.fromkeys((*plan.wrong, *plan.missing)))
        how = runbooks.written(document, dict.fromkeys(document.inputs, "…"), targets=plan.target_words)
        return Question(text=f"Nothing ran. {document.id} needs a fitting {names}. Say  {how}")
    pattern = next(one for one in context.library.patterns if one.document.id == document.id)
    match = Match(pattern=pattern, values=plan.inputs)
    if plan.target_words:
        return _drafts(match, plan.target_words, context=context)
    return _where(match, context=context, by_id=True)


def _drafts(match: Match, targets: tuple[str, ...], *, context: Context) -> Plan:
    document = match.document
    values = {name: item.default for name, item in document.inputs.items() if item.default is not None}
    values.update(match.values)
    return Plan(
        drafts=tuple(
            ActionDraft(
                target_words=targets,
                command=binding.bind(step.command, values, inputs=document.inputs),
                purpose=context.purpose,
                timeout_s=step.timeout_s,
                declared_risk=DECLARED[step.risk],
                runbook=f"{document.revision}#{step.id}",
            )
            for step in document.steps
        ),
        source=PlanSource.DIAGNOSTIC,
        confidence=match.score,
    )


def _where(match: Match, *, context: Context, by_id: bool = False) -> Plan | Question:
    """Find the target a request left out: where its service is, else the default for what only reads.

    Args:
        by_id: it was asked for by the id of its document, and so are the options.
    """
    service = service_of(match)
    hosts = tuple(context.services.get(service, ())) if service else ()
    if len(hosts) == 1:
        return _drafts(match, hosts, context=context)
    default = context.known.default
    alone = len(context.known.targets) == 1
    if not hosts and default is not None and (alone or match.document.is_read_only):
        return _drafts(match, (default,), context=context)
    names = hosts or context.known.targets
    if not names:
        return Question(text="No target is known. Add one to [targets] in the config.")
    subject = f"{service} is on {', '.join(hosts)}. " if hosts else ""
    options = tuple(
        replace(
            _option(match, (name,)), request=runbooks.written(match.document, match.values, targets=(name,))
        )
        if by_id
        else _option(match, (name,))
        for name in names[:MAX_OPTIONS]
    )
    return Question(text=f"{subject}On which target?", options=options)


def request_of(match: Match, targets: Sequence[str]) -> str:
    """Return a request that means exactly this match: "logs of caddy on web1"."""
    document = match.document
    if document.supervised:
        return runbooks.written(document, match.values, targets=targets)
    phrases = (document.title, *document.aliases)
    fitting = (phrase for phrase in phrases if set(SLOT.findall(phrase)) == set(match.values))
    filled = _filled(next(fitting, match.pattern.phrase), match.values)
    return f"{filled} on {','.join(targets)}" if targets else filled


def _option(match: Match, targets: Sequence[str]) -> Option:
    request = request_of(match, targets)
    return Option(label=label_of(match, targets), request=request)


def label_of(match: Match, targets: Sequence[str]) -> str:
    """Return what `request_of` asks for as people read it: a runbook by its title."""
    document = match.document
    if not document.supervised:
        return request_of(match, targets)
    said = _filled(document.title, {**match.values, **({TARGET_SLOT: ",".join(targets)} if targets else {})})
    where = f" on {','.join(targets)}" if targets and f"{{{TARGET_SLOT}}}" not in document.title else ""
    return f"{said}{where} (runbook {document.id})"


def _choose(matches: Sequence[Match], targets: tuple[str, ...]) -> Question:
    options = tuple(
        Option(
            label=f"{label_of(match, targets)}: {_first_title(match.document)}",
            request=_literal(match, targets),
        )
        for match in matches[:MAX_OPTIONS]
        if match.document.supervised or not match.missing
    )
    return Question(text="This can mean more than one thing. Which one?", options=options)


def _first_title(document: Document) -> str:
    if document.supervised and document.spec is not None:
        return document.spec.steps[0].title
    return document.steps[0].title


def _literal(match: Match, targets: tuple[str, ...]) -> str:
    if match.document.supervised:
        return request_of(match, targets)
    values = {name: item.default or "" for name, item in match.document.inputs.items()} | dict(match.values)
    command = binding.bind(match.document.steps[0].command, values, inputs=match.document.inputs)
    return f"`{command}` on {','.join(targets)}" if targets else f"`{command}`"


def _ask_value(match: Match, targets: tuple[str, ...], *, context: Context) -> Question:
    name = match.missing[0]
    options: tuple[Option, ...] = ()
    if _is_service(match.document, name) and len(match.missing) == 1:
        anywhere = not targets or groups.ALL in targets
        there = [
            service for service, hosts in context.services.items() if anywhere or set(hosts) & set(targets)
        ]
        options = tuple(
            _option(replace(match, values={**match.values, name: service}), targets)
            for service in there[:MAX_OPTIONS]
        )
    said = _filled(match.document.title, match.values)
    where = f" on {','.join(targets)}" if targets else ""
    return Question(text=f"Which {name}? Say: {said}{where}", options=options)


def _ask_service(match: Match, targets: tuple[str, ...], *, context: Context) -> Question | None:
    """Ask when a service nobody declared is spelt almost like one that is: it may be a slip."""
    service = service_of(match)
    if service is None or context.service(service):
        return None
    near = process.extractOne(service, list(context.services), scorer=fuzz.ratio, score_cutoff=_SERVICE_TYPO)
    if near is None:
        return None
    name = next(name for name, value in match.values.items() if value == service)
    meant = replace(match, values={**match.values, name: near[0]})
    return Question(
        text=f"No service {service} is declared. Did you mean {near[0]}?",
        options=(
            _option(meant, targets),
            Option(label=f"{service}, as typed", request=_literal(match, targets)),
        ),
    )


# ---------------------------------------------------------------- likeness


def _likely(words: Sequence[Token], *, context: Context) -> Plan | RunbookPlan | Question | Unplaced:
    addressed = _addressings(words, context=context)[-1]
    matches = alike(addressed.words, library=context.library, services=context.services)
    best = matches[0] if matches else None
    if best is None or best.score < _WORTH_ASKING:
        return unplaced(matches, addressed, context=context)
    second = next((match.score for match in matches[1:]), 0.0)
    if best.score >= _CERTAIN_ENOUGH and best.score - second >= _MARGIN and _may_guess(best, addressed.words):
        return settle((best,), addressed.targets, context=context)
    options = tuple(
        _option(_spelt(match, context=context), addressed.targets)
        for match in matches[:3]
        if match.score >= max(_WORTH_ASKING, best.score - _RUNNER_UP)
        and (match.document.supervised or not match.missing)
    )
    if not options:
        return unplaced(matches, addressed, context=context)
    return Question(text="Nothing ran. Did you mean one of these?", options=options)


def _may_guess(match: Match, words: Sequence[Token]) -> bool:
    """Whether likeness is enough: the document only reads, and no word says that something else was meant."""
    said = {token.folded for token in words}
    return match.document.is_read_only and not (said - set(match.pattern.words)) & (CHANGES | DOUBTS)


def unplaced(matches: Sequence[Match], addressed: Addressed, *, context: Context) -> Unplaced:
    """Name the nearest things that would work, nearest first."""
    documents = context.library.documents
    near = [match.document for match in matches if match.score >= _WORTH_NAMING]
    near += [documents[name] for name in _FALLBACK if name in documents]
    near += list(documents.values())[:_NEAREST]
    values = {match.document.id: match.values for match in matches}
    where = (
        ",".join(addressed.targets) or context.known.default or next(iter(context.known.targets), "<target>")
    )
    hints = [
        f"{_filled(document.title, values.get(document.id, {}))} on {where}"
        for document in {document.id: document for document in near}.values()
    ]
    return Unplaced(nearest=tuple(hints[:_NEAREST]))


def _filled(phrase: str, values: Mapping[str, str]) -> str:
    """Return a title with its slots filled, or shown as <slot>."""
    return SLOT.sub(lambda slot: values.get(slot[1], f"<{slot[1]}>"), phrase)
