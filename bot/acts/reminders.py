"""Reminders out of messages, in English and Arabic: "remind me to call Bo at 5pm", "ذكرني بعد يومين".

Reads whether a whole message asks for a reminder: the asking comes first, or behind the time alone ("in 20
minutes, remind me …"), so that talk about reminding ("you reminded me", "don't remind me") makes none. When
it comes and what it says is resolved by `gate.resolve.remind`; it is said by `bot.scheduling`.
"""

import re
from datetime import datetime

from bot import choices
from bot.acts import jobs, times
from bot.acts.handler import ActRequest, Bound
from bot.answering import Speaker
from bot.core import Core
from bot.outcome import Outcome
from bot.phrasing import shortened
from bot.text import Text
from bot.zones import zones_in
from gate.resolve import remind
from gate.resolve.decision import Act, Decision
from gate.when import Remembered, remember
from gate.when.text import plain
from gate.when.wording import take_apart

#: What a confirmation has room for of a reminder's text.
_ECHO_MAX = 200
#: Longer messages ask for no reminder; it also bounds what the patterns may cost.
_MAX_CHARS = 2000

_COURTESY = (
    r"(?:(?:hey|hi|ok|okay|so|and|also|please|pls|@?sayso|then)[\s,:]+)*"
    r"(?:(?:can|could|would|will)\s+(?:you|u)\s+|i\s+(?:want|need)\s+you\s+to\s+|you\s+can\s+)?(?:please\s+)?"
)
#: "Remind me what ran yesterday" asks for something that is known, not for a reminder.
_NO_QUESTION = r"(?!\s+(?:of\s+)?(?:what|which|who|whose|whom|how|where|why)\b)"
_ASKING = re.compile(
    rf"(?:{_COURTESY})(?:"
    rf"remind\s+(?:me|us|everyone|everybody|the\s+team|the\s+channel){_NO_QUESTION}"
    r"|(?:set|add|create|make|give\s+me)\s+(?:me\s+|us\s+|up\s+)*(?:an?|another|the)\s+(?:reminder|alarm|timer)"
    r"|(?:don'?t|don\u2019t|do\s+not)\s+let\s+(?:me|us)\s+forget"
    r"|(?:new\s+)?reminder(?=\s*:|\s+(?:to|about|for|that|in|at|on|every|tomorrow|next)\b)"
    r")(?!\w)",
    re.IGNORECASE,
)
_ARABIC_COURTESY = frozenset({"رجاء", "ممكن", "ان", "هل", "يمكنك", "اريدك", "سمحت", "سمحتي", "فضلك"})
#: These are courtesies only before the word behind them: "من" alone asks who.
_ARABIC_POLITE = {"من": {"فضلك"}, "لو": {"سمحت", "سمحتي"}}
_ARABIC_VERBS = (
    "ذكرني", "ذكرنا", "ذكريني", "ذكرينا", "فكرني", "فكرنا", "نبهني", "نبهنا", "تذكرني", "تذكرنا",
)  # fmt: skip
_ARABIC_ASKING = frozenset(prefix + verb for verb in _ARABIC_VERBS for prefix in ("", "و", "ف"))
#: What asks only behind another word: "set a reminder", "do not let me forget".
_ARABIC_PAIRS = tuple(
    (frozenset(first.split()), frozenset(second.split()))
    for first, second in (
        ("اضف ضع اعمل انشئ اضبط سجل", "تذكير تذكيرا منبه"),
        ("لا", "تنسني تنسيني تنساني تنسنا تنسينا"),
    )
)
_ARABIC_FIRST = frozenset.union(*(first for first, _ in _ARABIC_PAIRS))
_NOTHING = remember(())


def asked(text: str, remembered: Remembered = _NOTHING) -> str | None:
    """Return what a whole message says beside asking for a reminder; None where it asks for none.

    Args:
        text: as typed: "in 20 minutes, remind me to check the oven" gives "in 20 minutes, to check the oven".
        remembered: the events that the time before the asking may be counted from.
    """
    found = _parts(text)
    if found is None:
        return None
    before, behind = found
    if before.strip(" ,:;-"):
        wording = take_apart(before, remembered=remembered, zones=zones_in(before))
        if not wording.time or any(char.isalnum() for char in wording.rest):
            return None
        return f"{before.strip(' ,:;-')}, {behind.strip()}"
    return behind.strip()


def _parts(text: str) -> tuple[str, str] | None:
    """Return what stands before and behind the words that ask; None where there are none."""
    return None if len(text) > _MAX_CHARS else _english(text) or _arabic(text)


def _english(text: str) -> tuple[str, str] | None:
    for found in _ASKING.finditer(text):
        if not found.start() or not text[found.start() - 1].isalnum():
            return text[: found.start()], text[found.end() :]
    return None


def _arabic(text: str) -> tuple[str, str] | None:
    words = text.split()
    folded = [plain(word).strip(",:;.!?") for word in words]
    for place, word in enumerate(folded):
        pairs = [firsts for firsts, seconds in _ARABIC_PAIRS if word in seconds]
        paired = any(place and folded[place - 1] in firsts for firsts in pairs)
        if word in _ARABIC_ASKING or paired:
            courtesy = _ARABIC_COURTESY | (_ARABIC_FIRST if paired else frozenset())
            before = [
                words[number]
                for number in range(place)
                if folded[number] not in courtesy
                and folded[number + 1] not in _ARABIC_POLITE.get(folded[number], ())
            ]
            return " ".join(before), " ".join(words[place + 1 :])
    return None


class ReminderActs:
    """Reads, resolves and performs reminders. Holds nothing."""

    acts = frozenset({Act.REMIND})

    def read(self, core: Core, speaker: Speaker, request_at: datetime) -> ActRequest | None:
        """Return the reminder that the whole message asks for; None for anything else."""
        parts = _parts(speaker.said)
        if parts is None:  # of most messages no memory has to be read
            return None
        about = asked(speaker.said, times.remembered(core, speaker))
        if about is None:
            return None
        return ActRequest(
            act=Act.REMIND,
            # A time that comes first is read apart from the asking behind it.
            slots={"words": about if parts[0].strip() else speaker.said, "about": about},
            said=speaker.said,
            request_at=request_at,
            tool="remind",
        )

    def resolve(self, core: Core, outcome: Outcome, speaker: Speaker, request: ActRequest) -> Decision:
        """Let the gate resolve a reminder; a date that it cannot read gets a second opinion as an option."""
        facts = times.facts(core, speaker, request.slots, request_at=request.request_at, now=outcome.at)
        decision = remind.resolve(request.slots, times=facts)
        guessed = times.with_guesses(
            decision, request.slots, facts, lambda more: remind.resolve(request.slots, times=more)
        )
        return times.with_remark(core, speaker, guessed)

    def perform(
        self, core: Core, outcome: Outcome, speaker: Speaker, request: ActRequest, bound: Bound
    ) -> None:
        """Record the reminder in this place, and say when it comes, with the zone."""
        job = jobs.make(core, outcome, speaker, request, bound)
        at = times.told(bound.slots, speaker, now=outcome.at)
        text = shortened(choices.masked(core, " ".join(bound.slots["text"].split())), most=_ECHO_MAX)
        drop = jobs.how_to_drop(core, outcome, speaker, Act.REMIND, job)
        outcome.say(Text.of(f'✓ Reminder {at}, here: "{text}". {drop}'))


HANDLER = ReminderActs()
