r"""How a person reads a message: Discord's Markdown as its clients show it, without the marks.

An independent reading, after the order of rules in Discord's own parser: escapes, fences, code, links,
mentions, emoji, emphasis; headings, lists, quotes and small print at the beginning of a line. Fenced text is
indented by two spaces, as the conformance suite has it. What would ping, link or become a picture is shown in
⟦…⟧, so that a text which is read as markup does not read as itself.
"""

import re

_FENCE = re.compile(r"```(?:([A-Za-z0-9_+\-.#]+?)\n)?\n*([^\n][\s\S]*?)\n*```")
_CODE = re.compile(r"(`+)([\s\S]*?[^`])\1(?!`)")
_ESCAPE = re.compile(r"\\([^0-9A-Za-z\s])")
_SPECIAL = [
    ("mention", re.compile(r"<(?:@[!&]?|#)\d+>")),
    ("everyone", re.compile(r"@(?:everyone|here)\b")),
    ("emoji", re.compile(r"<a?:\w+:\d+>|:[A-Za-z0-9_+-]{2,}:")),
    ("time", re.compile(r"<t:-?\d+(?::[tTdDfFR])?>")),
    ("link", re.compile(r"\[[^\]]+\]\(\S+?\)|<?https?://[^\s<]+[^<.,:;\"')\]\s]>?")),
]
_PAIRS = ["***", "**", "__", "*", "_", "~~", "||"]
_BLOCK_STARTS = [
    ("heading", re.compile(r"#{1,3} +")),
    ("small", re.compile(r"-# +")),
    ("quote", re.compile(r"(?:>>> ?|> )")),
    ("item", re.compile(r"[ \t]*(?:[*-]|\d+\.) +")),
]
#: Beginnings of lines that change only how a line looks; its words stay.
_HARMLESS = {"small"}


def read(content: str) -> str:
    """Return what a person reads."""
    return _read(content, at_start=True)


def _read(text: str, *, at_start: bool) -> str:
    out: list[str] = []
    at = 0
    while at < len(text):
        if at_start:
            start = next(((name, m) for name, p in _BLOCK_STARTS if (m := p.match(text, at))), None)
            if start is not None:
                name, match = start
                out.append("" if name in _HARMLESS else f"⟦{name}⟧")
                at, at_start = match.end(), False
                continue
        shown, end = _next(text, at)
        out.append(shown)
        at_start = text[end - 1] == "\n" or (text[at:end].startswith("```") and end - at > 3)
        at = end
    return "".join(out)


def _next(text: str, at: int) -> tuple[str, int]:
    """Return what the next piece shows, and where it ends."""
    if match := _ESCAPE.match(text, at):
        return match[1], match.end()
    if match := _FENCE.match(text, at):
        # The fence stands on lines of its own: one line break on either side belongs to it.
        inner = "\n".join(f"  {line}" for line in match[2].split("\n"))
        lang = f"⟦{match[1]}⟧" if match[1] else ""
        return lang + inner, match.end()
    if match := _CODE.match(text, at):
        return match[2], match.end()
    for name, pattern in _SPECIAL:
        if match := pattern.match(text, at):
            return f"⟦{name} {match[0]}⟧", match.end()
    for pair in _PAIRS:
        if text.startswith(pair, at) and (end := _closing(text, at, pair)) is not None:
            return _read(text[at + len(pair) : end], at_start=False), end + len(pair)
    return text[at], at + 1


def _closing(text: str, at: int, pair: str) -> int | None:
    """Return where the pair that opens at `at` closes, over something that is not empty."""
    if pair[0] == "_" and at > 0 and text[at - 1].isalnum():
        return None
    match = re.compile(
        rf"{re.escape(pair)}((?:\\[\s\S]|`+[\s\S]*?`+|[^\\])+?){re.escape(pair)}(?!{re.escape(pair[0])})"
    ).match(text, at)
    return None if match is None else match.end() - len(pair)
