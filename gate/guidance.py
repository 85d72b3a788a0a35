"""Guidance: what an instruction that sayso is taught may be, and which ones count now (K55, X8, X12).

An instruction is one short line of readable words about how to work. It speaks of nothing that the gate
decides: consent, policy, permission and the phrase have ways of their own, and words that only look like such
an instruction are refused as well, since asking again is cheap. What passes here still grants nothing: it is
quoted, as untrusted text, to a planner that only proposes.
"""

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from gate.redact import redact
from gate.shell.bytes import is_hidden

MAX_CHARS = 300
#: More are not used at once, the newest first: what is read before every plan has to stay short.
MAX_APPLIED = 40

#: Beginnings of words about consent, policy and the gate itself; lower case, accents folded away.
_DECIDING = re.compile(
    r"\b(?:(?:pre|auto)?-?approv|consent|permi(?:t\b|ssion|tted)|grant|trust|allow|authori[sz]|confirm|assent"
    r"|polic(?:y|ies)\b|posture|quorum|operator|switch(?:es)?\b|gate\b|phrase|second person"
    r"|unasked|unattended|autonom|auto[ -]?(?:run|act|on|off)\b|never[ -]auto|resume\b|kill switch"
    r"|bypass|overrid|skip|disregard|pretend|jailbreak|system prompt|previous instruction"
    r"|ignor\w* (?:\S+ ){0,3}(?:instructions?|rules?|above|cards?|questions?)"
    r"|without (?:a |any |your )?(?:ask|yes\b|question|wait|check)"
    r"|(?:do not|don'?t|never|stop|no need to) (?:ask|wait)"
    r"|go[ -]ahead|say[ -]?so\b|(?:means?|takes?|counts?|treats?) (?:\S+ ){0,6}(?:yes|no)\b)"
)
_DECIDING_AR = re.compile(
    "موافق|وافق|يوافق|اذن|صلاحي|سياس|ثق|اسمح|يسمح|بدون|دون ان|لا تسال|تجاهل|تخط|تاكيد|تلقائي"
)
#: Arabic letters that are written in several ways (alef maqsura, teh marbuta), and the stretcher.
_ARABIC = str.maketrans({"\u0649": "\u064a", "\u0629": "\u0647", "\u0640": ""})
_MARKS_OF_PROMPTS = re.compile(
    r"```|~~~|<\||\|>|</?[a-z][^>]*>|\[/?inst|^\W*(?:system|assistant|user|tool|developer)\s*:"
)
#: Alphabets whose letters look alike.
_ALIKE = frozenset({"LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC"})
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Guidance:
    """One confirmed instruction.

    Attributes:
        id: the six characters people see, without '#'.
        confirmed_at: aware UTC.
    """

    id: str
    text: str
    confirmed_at: datetime


def objection(text: str, *, secrets: Sequence[str] = ()) -> str | None:
    """Return why `text` is no instruction that can be taught, in words; None where it is one.

    Args:
        secrets: literal values that must never be stored in plain sight.
    """
    if not text.strip():
        return "There is nothing to learn in that."
    if len(text) > MAX_CHARS:
        return f"That is longer than {MAX_CHARS} characters. Say it shorter, or as several."
    found = next((why for holds, why in _CHECKS if holds(text)), None)
    if found is None and redact(text, extra=secrets).count:
        return "That holds what looks like a secret. Say it without."
    return found


def applicable(
    confirmed: Sequence[Guidance], *, now: datetime, enabled: bool, secrets: Sequence[str] = ()
) -> tuple[Guidance, ...]:
    """Return the instructions that may be quoted now, oldest first; checked once more, by the rules of now.

    Args:
        confirmed: what was confirmed and not taken away.
        now: one that was confirmed later than this is not used: then the clock is wrong.
        enabled: the off switch; False is none.
    """
    if not enabled:
        return ()
    usable = [
        one for one in confirmed if one.confirmed_at <= now and objection(one.text, secrets=secrets) is None
    ]
    return tuple(sorted(usable, key=lambda one: (one.confirmed_at, one.id))[-MAX_APPLIED:])


def _hides(text: str) -> bool:
    """Whether it holds what nobody sees; marks that belong to a letter are seen."""
    return any(char in "\n\t" or (is_hidden(char) and not unicodedata.combining(char)) for char in text)


def _mixes_alphabets(text: str) -> bool:
    """Whether a word has letters of two alphabets that look alike, as "approve" with a Cyrillic "a"."""
    words = _WORD.findall(_folded(text))
    return any(len({_alphabet(char) for char in word} & _ALIKE) > 1 for word in words)


def _alphabet(char: str) -> str:
    return unicodedata.name(char, "").partition(" ")[0]


def _decides(text: str) -> bool:
    folded = _folded(text)
    return bool(_DECIDING.search(folded) or _DECIDING_AR.search(folded))


def _folded(text: str) -> str:
    """Return `text` in lower case, without accents and vowel marks, blanks collapsed."""
    plain = unicodedata.normalize("NFKD", text.replace("\u2019", "'")).casefold()
    bare = "".join(char for char in plain if not unicodedata.combining(char))
    return " ".join(bare.translate(_ARABIC).split())


_CHECKS: tuple[tuple[Callable[[str], bool], str], ...] = (
    (_hides, "That holds a line break or a character that nobody sees. Say it in one line of plain words."),
    (
        _mixes_alphabets,
        "That mixes alphabets within a word, so it may not say what it seems to. Type it anew.",
    ),
    (
        lambda text: bool(_MARKS_OF_PROMPTS.search(_folded(text))),
        "That holds marks that a prompt is made of. Say it in plain words.",
    ),
    (
        _decides,
        "That speaks of what the gate decides, which nobody teaches: posture, trust and the config do.",
    ),
)
