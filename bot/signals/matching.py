"""Matching: which target a signal is about, what the library has for it, and how sure that is (D14).

Labels are compared with names of the inventory and of the library, never read as a request: whatever stands
in one, no command comes of it. A value of a label fills an input only where it is of the input's type, and is
quoted like every other. What is not certain is offered to a person, and nothing is done about it.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from bot.core import Core
from bot.phrasing import shortened
from bot.planning import runbooks
from bot.planning.library import SLOT, Document
from bot.planning.matching import Match, alike, exact
from bot.planning.words import tokens
from bot.signals.rules import SignalRule
from gate.domain import TargetState
from gate.redact import redact
from gate.signals import Signal
from gate.supervise.domain import InputType

#: From here on a match is acted on; below, a person is asked.
SURE = 0.9
CERTAIN = 1.0
#: How something was found that the owner named.
RULE = "your rule"
#: A host whose first part is the name of a target may be that one, or its namesake elsewhere.
_NAMESAKE = 0.8
_UNCLEAR = 0.5
#: From here on a document is worth offering, and so far apart are two that are no rivals.
_WORTH_OFFERING, _MARGIN = 0.5, 0.05
_MOST_OPTIONS = 4
_VALUE_MAX = 80

_TARGET_LABELS = ("target", "host", "hostname", "instance", "nodename", "node", "server", "machine")
_SERVICE_LABELS = ("service", "systemd_unit", "unit", "name", "job")
#: Labels that a value of an input may come from, by the type of the input and then by its name.
_VALUES: Mapping[InputType, tuple[str, ...]] = {
    InputType.SERVICE: _SERVICE_LABELS,
    InputType.PATH: ("path", "mountpoint", "mount", "file"),
    InputType.HOST: ("domain", "host", "instance", "target"),
    InputType.URL: ("url", "instance"),
}
_PORT = re.compile(r"(?P<host>\[[0-9A-Fa-f:.]+\]|[^:/\[\]]+):\d{1,5}")
_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
#: Words that alert names hold and titles do not.
_NOISE_WORDS = """node host instance target server alert alerting prometheus is too almost very high low
    critical warning error firing detected out of on in"""
_NOISE = frozenset(_NOISE_WORDS.split())


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One thing that was found, how, and how surely; `others` are what else it may be."""

    name: str = ""
    via: str = ""
    confidence: float = 0.0
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Matched:
    """What a signal means here.

    Attributes:
        target: the inventory name; its `name` is "" where none is known.
        what: the document or command, by what people call it.
        document: with `values`; None where a rule names a command, or nothing was found.
        options: (label, request) of what a person may ask for instead; each request is typed words.
    """

    target: Found
    what: Found
    document: Document | None = None
    values: Mapping[str, str] = field(default_factory=dict)
    command: str = ""
    verify: str = ""
    options: tuple[tuple[str, str], ...] = ()

    @property
    def is_sure(self) -> bool:
        """Whether it is certain enough to act on; what changes anything has to be named word for word."""
        if not self.target.name or not self.what.name or self.target.confidence < SURE:
            return False
        return self.what.confidence >= (SURE if self.reads else CERTAIN)

    @property
    def reads(self) -> bool:
        """Whether what was found says that it only reads."""
        return self.document is not None and self.document.is_read_only

    @property
    def by_rule(self) -> bool:
        """Whether the owner said what is to be done; else its name was all there was to go by."""
        return self.what.via == RULE

    @property
    def key(self) -> str:
        """What names the match within a group, without a word of a label: the same is acted on once."""
        values = [f"{name}={value}" for name, value in sorted(self.values.items())]
        whole = "\0".join((self.target.name, self.what.name, self.command, *values))
        return hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()[:16]

    @property
    def words(self) -> str:
        """Return "instance web1:9100 → web1, certain; alert DiskFull → disk space (disk), 0.92"."""
        target = _told(self.target, "no target is known by its labels")
        return f"{target}; {_told(self.what, 'nothing here is for it')}"


def match(core: Core, signal: Signal) -> Matched:
    """Return what `signal` means here."""
    rule = next((one for one in core.signal_rules if one.fits(signal.labels)), None)
    target = _target(core, signal.labels)
    if rule is not None and rule.target:
        target = Found(name=rule.target, via=RULE, confidence=CERTAIN)
    if rule is not None and (rule.runbook or rule.command):
        return _ruled(core, rule, target)
    return _by_name(core, signal, target)


def request(document: Document, values: Mapping[str, str], target: str) -> str:
    """Return the words that ask for `document`, as a person would type them."""
    return runbooks.written(document, values, targets=(target,))


def title(document: Document, values: Mapping[str, str]) -> str:
    """Return what a document is called, with the values that are spoken in it."""
    return SLOT.sub(lambda slot: values.get(slot[1], slot[1]), document.title)


# ---------------------------------------------------------------- targets


def _target(core: Core, labels: Mapping[str, str]) -> Found:
    found = sorted(_named(core, labels), key=lambda one: -one.confidence)
    best = [one for one in found if one.confidence == found[0].confidence]
    names = tuple(dict.fromkeys(one.name for one in best))
    if len(names) > 1:
        return Found(
            via=" and ".join(dict.fromkeys(one.via for one in best)), confidence=_UNCLEAR, others=names
        )
    if names:
        return best[0]
    return _by_service(core, labels)


def _named(core: Core, labels: Mapping[str, str]) -> Iterator[Found]:
    for label in _TARGET_LABELS:
        host = host_of(labels.get(label, ""))
        if not host:
            continue
        via = f'{label} "{_shown(labels[label])}"'
        for target in core.inventory.targets.values():
            if target.state is not TargetState.ACTIVE:
                continue
            if host in (str(target.id).casefold(), target.address.casefold()):
                yield Found(name=str(target.id), via=via, confidence=CERTAIN)
            elif host.partition(".")[0] == str(target.id).casefold() and not host[0].isdigit():
                yield Found(name=str(target.id), via=via, confidence=_NAMESAKE)


def host_of(value: str) -> str:
    """Return the host in the value of a label: "web1" of "https://web1:9100/metrics"."""
    host = value.strip().partition("://")[2] or value.strip()
    host = host.partition("/")[0].rpartition("@")[2]
    if port := _PORT.fullmatch(host):
        host = port["host"]
    return host.strip("[]").rstrip(".").casefold()


def _by_service(core: Core, labels: Mapping[str, str]) -> Found:
    for label in _SERVICE_LABELS:
        service = core.inventory.services.get(labels.get(label, "").removesuffix(".service"))
        if service is None:
            continue
        hosts = tuple(map(str, service.on))
        via = f'{label} "{_shown(labels[label])}"'
        if len(hosts) == 1:
            return Found(name=hosts[0], via=via, confidence=SURE)
        return Found(via=via, confidence=_UNCLEAR, others=hosts)
    return Found()


# ---------------------------------------------------------------- what is done


def _ruled(core: Core, rule: SignalRule, target: Found) -> Matched:
    if rule.command:
        what = Found(name=shortened(rule.command, most=_VALUE_MAX), via=RULE, confidence=CERTAIN)
        options = tuple((f"{what.name} on {one}", f"run {rule.command} on {one}") for one in _hosts(target))
        return Matched(target=target, what=what, command=rule.command, verify=rule.verify, options=options)
    document = core.library.documents.get(rule.runbook)
    if document is None:  # it was there when the process began
        return Matched(target=target, what=Found(via=f"{RULE}, which names {rule.runbook}"))
    what = Found(name=document.id, via=RULE, confidence=CERTAIN)
    return _of(document, rule.inputs, target=target, what=what)


def _by_name(core: Core, signal: Signal, target: Found) -> Matched:
    found = _documents(core, signal)
    if not found:
        return Matched(target=target, what=Found())
    best = found[0]
    rivals = [one for one in found[1:] if best.score - one.score < _MARGIN and best.score < CERTAIN]
    rivals += [one for one in found[1:] if one.score == CERTAIN]
    via = f'alert "{_shown(signal.name)}"'
    confidence = _UNCLEAR if rivals else best.score
    what = Found(name=best.document.id, via=via, confidence=confidence)
    values = _values(best.document, signal.labels, dict(best.values))
    made = _of(best.document, values, target=target, what=what)
    if made.is_sure:
        return made
    others = [(one.document, _values(one.document, signal.labels, dict(one.values))) for one in found[1:]]
    options = [
        *made.options,
        *(
            (f"{title(document, filled)} on {host}", request(document, filled, host))
            for document, filled in others
            for host in _hosts(target)
            if not _lacks(document, filled)
        ),
    ]
    return replace(made, options=tuple(options[:_MOST_OPTIONS]))


def _of(document: Document, values: Mapping[str, str], *, target: Found, what: Found) -> Matched:
    if lacking := _lacks(document, values):
        what = Found(name=what.name, via=f"{what.via}, which lacks {', '.join(lacking)}", confidence=_UNCLEAR)
    options = (
        ()
        if lacking
        else tuple(
            (f"{title(document, values)} on {host}", request(document, values, host))
            for host in _hosts(target)
        )
    )
    return Matched(target=target, what=what, document=document, values=values, options=options)


def _documents(core: Core, signal: Signal) -> Sequence[Match]:
    """Return what the library has for the name of an alert, the likest first."""
    words = words_of(signal.name)
    if not words:
        return ()
    service = next((signal.labels[one] for one in _SERVICE_LABELS if signal.labels.get(one)), "")
    service = service.removesuffix(".service")
    spoken = [words] if not InputType.SERVICE.fits(service) else [[service, *words], [*words, service], words]
    for sentence in spoken:
        # A word of the name is no value: "TailFile" shows the unit file of no service called tail.
        found = exact(tokens(" ".join(sentence)), library=core.library)
        certain = tuple(one for one in found if set(one.values.values()) <= {service})
        if certain:
            return certain
    services = tuple(core.inventory.services)
    near = alike(tokens(" ".join(words)), library=core.library, services=services)
    worth = [one for one in near if one.score >= _WORTH_OFFERING][: _MOST_OPTIONS + 1]
    return tuple(replace(one, values={}) for one in worth)


def words_of(name: str) -> list[str]:
    """Return the words that an alert's name is made of, in lower case: ["disk", "full"] of "NodeDiskFull"."""
    words = [word.lower() for word in _WORD.findall(name[:_VALUE_MAX])]
    return [word for word in words if word not in _NOISE] or words


def _values(document: Document, labels: Mapping[str, str], said: dict[str, str]) -> dict[str, str]:
    """Return the values of a document's inputs: what its words say, then what a label of that name says."""
    for name, item in document.inputs.items():
        if name in said or item.secret or name in document.captured:
            continue
        for label in (name, *_VALUES.get(item.type, ())):
            value = labels.get(label, "").strip()
            if item.type is InputType.HOST:
                value = host_of(value)
            if value and item.accepts(value) and (label == name or item.required):
                said[name] = value
                break
    return said


def _lacks(document: Document, values: Mapping[str, str]) -> list[str]:
    return [
        name
        for name, item in document.inputs.items()
        if item.required and item.default is None and name not in values and name not in document.captured
    ]


def _hosts(target: Found) -> tuple[str, ...]:
    return (target.name,) if target.name else target.others[:_MOST_OPTIONS]


# ---------------------------------------------------------------- words


def _told(found: Found, nothing: str) -> str:
    if not found.name:
        either = f" may be {', '.join(found.others)}" if found.others else ""
        return f"{found.via}{either or f': {nothing}'}" if found.via else nothing
    sure = "certain" if found.confidence >= CERTAIN else f"{found.confidence:.2f}"
    return f"{found.via} → {found.name}, {sure}"


def _shown(text: str) -> str:
    """Return a label's value as one line that cannot close its quotes."""
    return shortened(" ".join(redact(text).text.replace('"', "'").split()), most=_VALUE_MAX)
