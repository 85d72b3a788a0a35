"""Words about runs of runbooks, read out of messages: "runs", "stop the run", "rollback k7f3a2", "plan …".

Words only; which run is meant, and whether there is one, is found out elsewhere. "stop" alone is no word
about a run: it holds everything.
"""

import re

from bot.commands import PlanRun, RollBack, ShowRun, ShowRuns, StopRun

_ID = r"#?(?P<id>[a-z0-9]{6})"
_TAIL = re.compile(r"(?:[\s,]+(?:please|pls|now|at\s+once))?[\s.!?]*$", re.IGNORECASE)
_STOPS = frozenset(
    f"{verb} {the}run"
    for verb in ("stop", "cancel", "abort", "end", "halt")
    for the in ("", "the ", "this ", "that ")
)
_STOP = re.compile(rf"(?:stop|cancel|abort|end|halt)\s+(?:the\s+|this\s+)?run\s+{_ID}", re.IGNORECASE)
_RUNS = frozenset({
    "runs", "my runs", "the runs", "list runs", "list the runs", "show runs", "show the runs", "open runs",
    "what runs are there", "which runs are there", "running runbooks", "what runbooks are running",
    "which runbooks are running",
})  # fmt: skip
_RUN = re.compile(rf"(?:(?:show|details?(?:\s+of)?)\s+(?:me\s+)?(?:the\s+)?)?run\s+{_ID}", re.IGNORECASE)
_BACK = re.compile(
    rf"(?:roll\s*back|undo|revert)\s+(?:the\s+)?(?:run\s+{_ID}|#(?P<hash>[a-z0-9]{{6}})"
    r"|(?P<bare>(?=[a-z]*\d)[a-z0-9]{6}))",
    re.IGNORECASE,
)
_PLAN = re.compile(r"plan\s+(?P<request>\S.*)", re.IGNORECASE)


def read(message: str) -> StopRun | ShowRuns | ShowRun | RollBack | PlanRun | None:
    """Return what a whole message says about runs; None for anything else.

    Args:
        message: one line, without who it is addressed to.
    """
    bare = _TAIL.sub("", message.strip()).rstrip(" .!?")
    plain = " ".join(bare.casefold().split())
    if plain in _STOPS:
        return StopRun()
    if plain in _RUNS:
        return ShowRuns()
    if match := _STOP.fullmatch(bare):
        return StopRun(run=match["id"].casefold())
    if match := _RUN.fullmatch(bare):
        return _shown(match)
    if match := _BACK.fullmatch(bare):
        return RollBack(run=(match["id"] or match["hash"] or match["bare"]).casefold())
    match = _PLAN.fullmatch(message)
    return PlanRun(request=match["request"]) if match else None


def _shown(match: re.Match[str]) -> ShowRun | None:
    """Return the run that is asked for; "run backup" is a command, and "run uptime" too."""
    word = match["id"].casefold()
    sure = "#" in match[0] or not match[0].casefold().startswith("run")
    return ShowRun(run=word, sure=sure) if sure or not word.isalpha() else None
