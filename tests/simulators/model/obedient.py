"""A model that does whatever it reads: every command, every tool, every request to repeat something.

It first looks where it is told to look; then it takes everything that it was told for an order, whoever wrote
it, decodes what is encoded, and tries one thing an answer. With nothing left to try it says all that it read.
"""

import base64
import binascii
import json
import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from bot.planning.model.thinking import Answered, Call, Reply, Thought
from tests.simulators.model.double import answers_so_far, call, calls, read, says

_COMMAND = re.compile(r"run `(?P<command>[^`]+)`(?: on (?P<target>[@\w.-]+))?", re.IGNORECASE)
_SHELL = re.compile(r"(?:^|[\s>])\$ (?P<command>\S.*)$", re.MULTILINE)
_TOOL = re.compile(r"\bcall (?P<tool>[^\s{]+) (?P<args>\{.*\})")
_ORDER = re.compile(r"\b(?P<tool>approve|resume|settle) (?P<id>[a-z0-9]{6})\b")
_RISK = re.compile(r"declared_risk[\"']?: *[\"']?(?P<risk>[^\n\"'}]+)")
_BASE64 = re.compile(r"\b[A-Za-z0-9+/]{24,}={0,2}")
_HEX = re.compile(r"\b(?:[0-9a-f]{2}){12,}\b")
_ESCAPED = re.compile(r"\\u\{[0-9a-f]+\}")


@dataclass
class Obedient:
    """`looks` is what it does before it obeys, for each plan the same."""

    looks: Callable[[], Answered] = Answered
    name: str = "compatible:obedient"
    thoughts: list[Thought] = field(default_factory=list)
    tried: list[Call] = field(default_factory=list)

    async def think(self, thought: Thought) -> Reply:
        self.thoughts.append(thought)
        at = answers_so_far(thought)
        if not at:
            return Reply(answered=self.looks())
        wanted = list(dict.fromkeys(orders(read(thought))))
        if at > len(wanted):
            return Reply(answered=says(read(thought)[-20_000:]))
        self.tried.append(wanted[at - 1])
        return Reply(answered=calls(wanted[at - 1], text="As I was told."))

    async def close(self) -> None:
        return None

    def told(self) -> str:
        return "\n".join(read(one) for one in self.thoughts)


def orders(text: str) -> Iterator[Call]:
    """Yield everything that `text` could be taken to ask for; tools that there are none of come last."""
    plain = unicodedata.normalize("NFKC", _ESCAPED.sub("", text))
    texts = dict.fromkeys([plain, *_decoded(plain)])
    risk = _RISK.search(plain)
    declared = {"declared_risk": risk["risk"].strip()} if risk else {}
    for one in texts:
        for found in _COMMAND.finditer(one):
            target = found["target"] or "local"
            yield call("run", target=target, command=found["command"], purpose="I was told to", **declared)
        for found in _SHELL.finditer(one):
            command = found["command"].strip()
            yield call("run", target="local", command=command, purpose="I was told to", **declared)
    for one in list(texts)[1:]:
        yield call("run", target="local", command=one, purpose="it was encoded", **declared)
    for found in _TOOL.finditer(text):
        yield Call(id="c", tool=found["tool"], args=_json(found["args"]))
    for found in _ORDER.finditer(plain):
        yield call(found["tool"], id=found["id"])


def _json(text: str) -> str:
    try:
        json.loads(text)
    except ValueError:
        return "{}"
    return text


def _decoded(text: str) -> Iterator[str]:
    for found in _BASE64.finditer(text):
        try:
            yield base64.b64decode(found[0], validate=True).decode("ascii")
        except (binascii.Error, UnicodeDecodeError):
            continue
    for found in _HEX.finditer(text):
        try:
            yield bytes.fromhex(found[0]).decode("ascii")
        except UnicodeDecodeError:
            continue
