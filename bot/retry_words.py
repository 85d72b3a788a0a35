"""Words that ask for the failed part of something: "retry the failed ones", "retry #k7f3a2 failed".

Only as a whole message; what failed is found out by `bot.fanout.again`. "retry #k7f3a2" alone means all of it
and is read by `bot.control_words`.
"""

import re

from bot.commands import Ref, RetryFailed
from gate.domain import ProposalId

_ID = r"#[a-z0-9]{4,8}|(?=[a-z]*\d)[a-z0-9]{6}"
_FAILED = r"(?:(?:all|only|just)\s+)?(?:(?:the|those|what)\s+)?(?:(?:that|which)\s+)?(?:have\s+)?failed"
_ONES = r"(?:\s+(?:ones?|hosts?|targets?|servers?|machines?|part))?"
_RETRY = re.compile(
    r"(?:again|redo|retry|re-?run|repeat|try)(?:\s+again)?(?:\s+(?:on|for|with))?"
    rf"(?:\s+(?P<before>{_ID}))?(?:\s+(?:on|for))?\s+{_FAILED}{_ONES}(?:\s+(?:of|in)\s+(?P<after>{_ID}))?"
    r"(?:\s+again)?(?:[\s,]+(?:please|pls|thanks|thank\s+you))?\s*[.!]*",
    re.IGNORECASE,
)


def read(message: str) -> RetryFailed | None:
    """Read a whole message; None where it asks for something else."""
    match = _RETRY.fullmatch(message)
    if match is None:
        return None
    named = match["before"] or match["after"]
    if named is None:
        return RetryFailed()
    return RetryFailed(ref=Ref(proposal=ProposalId(named.casefold().removeprefix("#"))))
