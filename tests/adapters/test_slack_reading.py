"""The words of a Slack message, as they were typed."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.slack import reading
from tests.simulators.slack.world import BOT_USER, Json, typed


def words(message: Json) -> reading.Words:
    return reading.words(message, me=BOT_USER)


def rich(*parts: Json) -> Json:
    return {"text": "?", "blocks": [{"type": "rich_text", "elements": list(parts)}]}


def part(kind: str, *elements: Json, **more: Any) -> Json:
    return {"type": f"rich_text_{kind}", "elements": list(elements), **more}


def text(said: str, **style: bool) -> Json:
    return {"type": "text", "text": said, **({"style": style} if style else {})}


@pytest.mark.parametrize(
    "said",
    [
        "run df -h on web1",
        "a < b && c > d &amp; &lt;x&gt;",
        "run `grep -E 'a|b' x` on web1",
        "```\nsystemctl restart caddy\ndf -h\n```",
        "echo “smart” ‘quotes’ \u2013 dashes",
        "<@U_BO> <!channel> typed by hand",
        "*not* _bold_ ~x~",
    ],
)
def test_words_are_what_was_typed(said: str) -> None:
    """Reports 16, 17 and 18: exact text; whoever parses commands folds quotes, not we."""
    assert words(typed(said)).text == said


def test_code_of_several_lines_is_whole() -> None:
    """Report 18: `text` loses the first line of code; the blocks do not."""
    shown = {**typed("```\nfirst\nsecond\n```"), "text": "```second```"}
    assert words(shown).text == "```\nfirst\nsecond\n```"


@pytest.mark.parametrize(
    ("said", "heard"),
    [
        ("@sayso run df -h on web1", "run df -h on web1"),
        ("@sayso: uptime", "uptime"),
        ("@sayso, uptime", "uptime"),
        ("hey @sayso uptime", "hey uptime"),
        ("uptime @sayso", "uptime"),
        ("@sayso", ""),
        ("@sayso @sayso yes", "yes"),
    ],
)
@pytest.mark.parametrize("blocks", [True, False])
def test_our_own_mention_is_taken_out_and_nothing_else(said: str, heard: str, *, blocks: bool) -> None:
    """Report 51."""
    shown = typed(said)
    if not blocks:
        shown.pop("blocks")
    assert words(shown) == reading.Words(heard, mentioned=True, quoted=False)


@pytest.mark.parametrize(
    ("markup", "heard"),
    [
        ("a &lt; b &amp;amp; c", "a < b &amp; c"),
        ("<@U_BO> and <@U_BO|bo>", "<@U_BO> and <@U_BO>"),
        ("<#C1|ops> <!here> <!subteam^S1|@team>", "<#C1> @here <!subteam^S1|@team>"),
        ("curl <https://a.b/c?d=1&amp;e=2>", "curl https://a.b/c?d=1&e=2"),
        ("ping <http://web1.example|web1.example>", "ping web1.example"),
    ],
)
def test_without_blocks_the_markup_is_undone_once(markup: str, heard: str) -> None:
    assert words({"text": markup}).text == heard


def test_a_typed_mention_is_no_mention() -> None:
    """Slack's `text` cannot tell the two apart; the blocks can."""
    shown = {**typed(f"<@{BOT_USER}> yes"), "text": f"<@{BOT_USER}> yes"}
    assert not words(shown).mentioned


def test_what_is_struck_out_does_not_read_as_said() -> None:
    assert words(rich(part("section", text("yes", strike=True)))).text == "~yes~"


def test_lists_links_emoji_and_the_unknown() -> None:
    items = [part("section", text("one")), part("section", text("two"))]
    found = words(
        rich(
            part("list", *items, style="ordered", offset=1),
            part("list", *items, style="bullet"),
            part(
                "section",
                {"type": "emoji", "name": "thumbsup", "unicode": "1f44d-1f3fb"},
                {"type": "emoji", "name": "odd"},
                {"type": "link", "url": "http://web1.example", "text": "web1.example"},
                {"type": "user", "user_id": "U_BO"},
                {"type": "channel", "channel_id": "C1"},
                {"type": "usergroup", "usergroup_id": "S1"},
                {"type": "broadcast", "range": "here"},
                {"type": "date", "timestamp": 1, "fallback": "today"},
                {"type": "novelty"},
            ),
        )
    )
    assert found.text == (
        "2. one\n3. two\n- one\n- two\n👍🏻:odd:web1.example<@U_BO><#C1><!subteam^S1>@heretoday[novelty]"
    )


def test_code_with_backticks_keeps_them() -> None:
    assert words(rich(part("section", text("echo `x`", code=True)))).text == "``echo `x```"


def test_a_quotation_is_marked_and_known_as_one() -> None:
    """P6: what is only quoted is nobody's yes."""
    assert words(typed("> yes")) == reading.Words("> yes", mentioned=False, quoted=True)
    assert words({"text": "&gt; yes\n&gt; do"}).quoted
    assert words(typed("> yes\nno")) == reading.Words("> yes\nno", mentioned=False, quoted=False)
    assert not words(typed("")).quoted


@given(st.text(max_size=200))
def test_any_text_survives(said: str) -> None:
    shown = rich(part("section", text(said)))
    assert words(shown).text == said.strip()
    reading.words({"text": said}, me=BOT_USER)
