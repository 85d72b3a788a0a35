"""The one autonomy dial: its levels, the ceiling that lowers a request, and what a dial may look like (M).

Pure: words in, words out. The dial governs what nobody sent (a repair, a schedule), never what a person
typed (M4); it permits nothing by itself, since every consent gate still applies (M2). The rules it owns: a
request is lowered and never raised or refused, an unknown word ranks below everything, and a request that
is no word of the dial is an error.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """How far sayso may go by itself; each level permits everything below it (M1). Stored."""

    OFF = "off"  # nothing is added
    ADVISE = "advise"  # text beside the result or the error
    ASK = "ask"  # stop and ask; unanswered means no
    PROPOSE = "propose"  # show what would be done, and wait
    APPLY = "apply"  # replace a value that is returned, the original beside it
    RUN = "run"  # do it, as far as every gate lets it


LEVELS: tuple[Level, ...] = tuple(Level)


class UnknownLevelError(ValueError):
    """That is no level of the dial. Say one of those that are listed."""

    def __init__(self, word: str, levels: Sequence[str] = LEVELS) -> None:
        super().__init__(f'"{word}" is no level. Say one of: {", ".join(levels)}.')
        self.word = word


def rank(word: str) -> int:
    """Return 0 for off to 5 for run; -1 for what is no level."""
    return LEVELS.index(Level(word)) if word in LEVELS else -1


def at_least(level: str, want: Level) -> bool:
    """Whether `level` permits what takes `want`; an unknown word permits nothing, not even off."""
    return rank(level) >= rank(want)


@dataclass(frozen=True, slots=True, kw_only=True)
class Clamped:
    """What counts of a request.

    Attributes:
        by: the ceiling that lowered it, with its origin, as "autonomy.max (file)"; "" where nothing did.
    """

    value: Level
    requested: Level
    by: str = ""

    @property
    def words(self) -> str:
        """Return "requested run, lowered to propose by autonomy.max (file)"; "" where nothing lowered it."""
        return f"requested {self.requested}, lowered to {self.value} by {self.by}" if self.by else ""


def clamp(
    ceiling: Level, requested: str, *, own: str = "", dial: Sequence[str] = LEVELS, by: str = "the ceiling"
) -> Clamped:
    """Lower `requested` to `ceiling` where it lies above (M8).

    Args:
        requested: what a caller asks for; "" takes `own`, which is what the layers say.
        dial: the levels that this dial knows, in order. A ceiling below all of them bounds it all the same.
        by: the ceiling in words.

    Raises:
        UnknownLevelError: `requested` is no level of `dial`.
    """
    word = requested or own
    if word not in dial or word not in LEVELS:
        raise UnknownLevelError(word, dial)
    wanted = Level(word)
    if rank(wanted) <= rank(ceiling):
        return Clamped(value=wanted, requested=wanted)
    return Clamped(value=ceiling, requested=wanted, by=by)


# ---------------------------------------------------------------- what a dial may look like


@dataclass(frozen=True, slots=True, kw_only=True)
class Dial:
    """A setting as far as the rules about ceilings read it.

    Attributes:
        levels: the words it may hold, in order; () where it holds no words of a list.
        per_call: whether a request may carry its own; a setting that may not is the daemon's.
        hot: whether a value set at run time counts at once.
        clamped_by: the key of its ceiling; "" for none.
    """

    key: str
    levels: tuple[str, ...]
    default: str
    per_call: bool
    hot: bool = False
    clamped_by: str = ""


def objections(dial: Dial, ceilings: Mapping[str, Dial]) -> tuple[str, ...]:
    """Return why `dial` may not be clamped as it says, () where it may (M10). `ceilings` are by key."""
    ceiling = ceilings.get(dial.clamped_by)
    if ceiling is None:
        return (f"{dial.key}: there is no ceiling {dial.clamped_by}",)
    found = list(_of_ceiling(ceiling))
    if not dial.per_call:
        found.append(f"{dial.key}: only what a request may carry is clamped")
    if not dial.levels or not ceiling.levels:
        found.append(f"{dial.key}: it and {ceiling.key} must both hold words of a list")
    elif tuple(one for one in ceiling.levels if one in dial.levels) != dial.levels:
        found.append(f"{dial.key}: its words are no ordered part of those of {ceiling.key}")
    elif ceiling.levels.index(dial.default) > ceiling.levels.index(ceiling.default):
        found.append(f"{dial.key}: its default is above that of {ceiling.key}")
    return tuple(found)


def _of_ceiling(ceiling: Dial) -> Sequence[str]:
    found = []
    if ceiling.clamped_by:
        found.append(f"{ceiling.key}: a ceiling has no ceiling")
    if ceiling.per_call:
        found.append(f"{ceiling.key}: no request may carry a ceiling")
    if ceiling.hot:
        found.append(f"{ceiling.key}: a ceiling is not hot")
    return found
