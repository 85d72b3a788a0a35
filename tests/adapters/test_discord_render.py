"""Discord's payloads: what is read is the text, nothing pings, every limit holds before sending."""

import hashlib
import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from adapters.discord.markdown import markdown
from adapters.discord.render import (
    MAX_CONTENT,
    cut,
    file_name,
    is_marked,
    length,
    mark_of,
    modal,
    outgoing,
    token_of_button,
    token_of_form,
)
from bot.ports import Button, ButtonStyle, Form, Message
from bot.text import Span, Style, Text, block, code, muted, strong, visible
from tests.simulators.discord import limits
from tests.simulators.discord.reading import read
from tests.simulators.discord.world import BOT, BOT_ROLE

NASTY = [
    "@everyone @here <@123> <@!123> <@&456> <#789>",
    "*a* **b** __c__ ~~d~~ ||e|| `f` ``g`` ```h```",
    "# title", "> quote", ">>> all", "- item", "* item", "+ item", "1. one", "7) seven", "-# small",
    "[text](https://example.com/a_b_c) https://example.com/a_b_c <https://x.y>",
    ":smile: <:custom:123456> <t:1700000000:R> </deploy:123>",
    "back\\slash \\*not\\* \\", "¯\\_(ツ)_/¯", "C:\\new_dir\\*.txt",
    "a`b", "`", "``", "```", "x```y```z", "_", "___",
]  # fmt: skip
MARKS = "`*_~|\\<>@#[]():-+.1!&/ \nab"
WORDS = st.text(alphabet=MARKS, max_size=24)
SPANS = st.tuples(WORDS, st.sampled_from([Style.PLAIN, Style.STRONG, Style.CODE]))


@pytest.mark.parametrize("text", NASTY)
@pytest.mark.parametrize("style", [Style.PLAIN, Style.STRONG, Style.MUTED, Style.CODE])
def test_what_is_read_is_the_text(text: str, style: Style) -> None:
    assert read(markdown(Text.of([Span(text, style)], "end"))) == f"{text}\nend"


@pytest.mark.parametrize("text", NASTY)
def test_a_block_is_read_as_it_is(text: str) -> None:
    shown = read(markdown(Text.of("before", block(f"one\n{text}\ntwo"), "after")))
    assert [line.removeprefix("  ") for line in shown.split("\n")] == ["before", "one", text, "two", "after"]


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.lists(st.tuples(WORDS, st.sampled_from([Style.PLAIN, Style.STRONG, Style.CODE])), max_size=4))
)
@example([[("`", Style.PLAIN), ("a", Style.CODE), ("`", Style.PLAIN)]])
@example([[("a", Style.CODE), ("b", Style.CODE)], [("*", Style.STRONG), ("*", Style.PLAIN)]])
def test_any_spans_are_read_as_they_are(lines: list[list[tuple[str, Style]]]) -> None:
    text = Text(tuple(tuple(Span(words, style) for words, style in line) for line in lines))
    assert read(markdown(text)) == text.plain()


@settings(max_examples=100, deadline=None)
@given(WORDS)
def test_nothing_leaves_a_block(words: str) -> None:
    shown = read(markdown(Text.of(block(f"<{words}>"), "end")))
    lines = [line.removeprefix("  ") for line in shown.split("\n")]
    assert "\n".join(lines) == f"<{words}>\nend"


def test_output_cannot_pass_for_a_line_of_a_card() -> None:
    content = markdown(Text.of(block("```\n✓ ok in 1 s\n# approved by ana\n```"), "still waits"))
    shown = read(content).split("\n")
    assert shown == ["```", "  ✓ ok in 1 s", "  # approved by ana", "```", "still waits"]


@pytest.mark.parametrize("hidden", ["\u200b", "\u202e", "\x1b", "\u2066", "\U000e0041"])
def test_hidden_characters_are_shown_in_every_style(hidden: str) -> None:
    for make in (Span, strong, muted, code, block):
        assert hidden not in markdown(Text.of([make(f"a{hidden}b")]))
        assert f"u{{{ord(hidden):x}}}" in read(markdown(Text.of([make(f"a{hidden}b")]))).replace("\\", "")


# ---------------------------------------------------------------- nobody is pinged (report 46)


PINGS = ["@everyone", "@here", f"<@{BOT}>", f"<@!{BOT}>", f"<@&{BOT_ROLE}>", "<#1>"]


@pytest.mark.parametrize("ping", PINGS)
def test_no_part_of_a_message_can_ping(ping: str) -> None:
    message = Message(
        body=Text.of(ping, [strong(ping)], [code(ping)], [muted(ping)], block(ping)),
        fold=Text.of(block(ping)),
        buttons=(Button(label=ping, token="t"),),
        attachment=(f"{ping}.txt", ping.encode()),
    )
    payload = outgoing(message).payload
    assert payload["allowed_mentions"] == {"parse": [], "replied_user": False}
    names = json.dumps(payload["attachments"])
    assert "@" not in names
    assert "<" not in names
    # What the words look like to Discord, were mentions allowed: only verbatim parts hold them unescaped.
    assert f"\\{ping[0]}" in str(payload["content"])
    assert read(str(payload["content"])).count("⟦") == 0


def test_links_do_not_unfold() -> None:
    assert outgoing(Message(body=Text.of("https://example.com"))).payload["flags"] == 4


# ---------------------------------------------------------------- limits (reports 26 and 48)


def card(command: str) -> Message:
    approve = Button(label="Approve", token="a" * 32, style=ButtonStyle.GO)
    return Message(body=Text.of("◔ web1 · run", block(command), "until 15:04 · #k7f3a2"), buttons=(approve,))


@pytest.mark.parametrize("size", [1, 1900, 2001, 3801, 40_000])
@pytest.mark.parametrize("unit", ["x", "`", "*", "é", "漢", "😀", "x y\n"])
def test_a_command_of_any_length_is_shown_whole_or_stands_whole_in_a_file(size: int, unit: str) -> None:
    command = (unit * size)[:size].strip() or "x"
    ready = outgoing(card(command), mark="0" * 24)
    limits.check_message(ready.payload, dict(ready.files))
    content = str(ready.payload["content"])
    if ready.files:
        ((name, whole),) = ready.files
        assert visible(command) in whole.decode()
        assert f"whole in {name}, sha256 {hashlib.sha256(whole).hexdigest()[:12]}" in read(content)
        assert ready.payload["attachments"] == [{"id": 0, "filename": "card.txt"}]
    else:
        assert command in "\n".join(line.removeprefix("  ") for line in read(content).split("\n"))
    assert read(content).endswith("until 15:04 · #k7f3a2")


def test_long_output_is_cut_and_the_command_is_not() -> None:
    message = Message(body=Text.of("✓ web1 · df -h", block("df -h")), fold=Text.of(block("line\n" * 5000)))
    ready = outgoing(message)
    assert [name for name, _ in ready.files] == ["output.txt"]
    assert ready.files[0][1].decode().count("line") == 5000
    assert read(str(ready.payload["content"])).startswith("✓ web1 · df -h\n  df -h\n")


def test_the_limit_counts_what_is_sent_not_what_is_meant() -> None:
    ready = outgoing(Message(body=Text.of("*" * 1500)))
    assert length(str(ready.payload["content"])) <= MAX_CONTENT
    assert ready.files


@pytest.mark.parametrize("label", ["x" * 200, "漢" * 200, "😀" * 79, "é" * 81, "\u200b", "", " a\nb\t c "])
def test_labels_of_any_script_fit(label: str) -> None:
    message = Message(body=Text.of("go?"), buttons=(Button(label=label, token="t"),))
    limits.check_message(outgoing(message).payload, {})


def test_a_cut_label_says_that_it_is_cut() -> None:
    assert cut("x" * 90, 80) == "x" * 79 + "…"
    assert length(cut("😀" * 90, 80)) <= 80
    assert cut(" a\nb\t c ", 80) == "a b c"


def test_twenty_five_buttons_fit_and_one_more_does_not() -> None:
    buttons = tuple(Button(label=str(number), token=f"{number:032d}") for number in range(26))
    fitting = outgoing(Message(body=Text.of("which?"), buttons=buttons[:25]), mark="f" * 24)
    limits.check_message(fitting.payload, {})
    with pytest.raises(ValueError, match="26 buttons"):
        outgoing(Message(body=Text.of("which?"), buttons=buttons))


@pytest.mark.parametrize("token", ["", "x" * 33, "é", "a\n"])
def test_a_token_that_is_no_token_is_a_mistake_of_ours(token: str) -> None:
    with pytest.raises(ValueError, match="token"):
        outgoing(Message(body=Text.of("go?"), buttons=(Button(label="a", token=token),)))


def test_two_buttons_of_one_token_are_a_mistake_of_ours() -> None:
    twice = (Button(label="a", token="t"), Button(label="b", token="t"))
    with pytest.raises(ValueError, match="one token"):
        outgoing(Message(body=Text.of("go?"), buttons=twice))


def test_an_empty_message_shows_something() -> None:
    assert outgoing(Message(body=Text.of("", " "))).payload["content"] == "…"


@pytest.mark.parametrize(
    ("name", "kept"),
    [("out.txt", "out.txt"), ("@everyone/../x y.log", "_everyone_.._x_y.log"), ("", "file.txt")],
)
def test_file_names_are_plain(name: str, kept: str) -> None:
    assert file_name(name) == kept


# ---------------------------------------------------------------- what comes back


@pytest.mark.parametrize("mark", ["", "0" * 24])
def test_the_token_of_a_button_comes_back(mark: str) -> None:
    message = Message(body=Text.of("go?"), buttons=(Button(label="a", token="x:y~z" + "w" * 27),))
    (row,) = outgoing(message, mark=mark).payload["components"]
    (button,) = row["components"]
    assert len(button["custom_id"]) <= 100
    assert token_of_button(button["custom_id"]) == "x:y~z" + "w" * 27


@pytest.mark.parametrize(
    "foreign", ["", "x", "s1:", "s2:abc:t", "s1:" + "x" * 33, "f1:t", "approve:1", "s1:é"]
)
def test_the_payload_of_another_bots_button_is_none_of_ours(foreign: str) -> None:
    assert token_of_button(foreign) is None


@pytest.mark.parametrize("foreign", ["", "s1:t", "f1:", "f1:" + "x" * 33])
def test_another_form_is_none_of_ours(foreign: str) -> None:
    assert token_of_form(foreign) is None


def test_the_mark_of_a_post_is_short_and_its_own() -> None:
    assert len(mark_of("1", "n" * 64)) <= 25
    assert mark_of("1", "n1") == mark_of("1", "n1")
    assert len({mark_of("1", "n1"), mark_of("2", "n1"), mark_of("1", "n2")}) == 3


def test_a_message_tells_whether_it_carries_a_mark() -> None:
    mark = mark_of("1", "n1")
    with_buttons = outgoing(Message(body=Text.of("a"), buttons=(Button(label="a", token="t"),)), mark=mark)
    assert is_marked(with_buttons.payload, mark) is True
    assert is_marked(with_buttons.payload, mark_of("1", "n2")) is False
    assert is_marked({"nonce": mark}, mark) is True
    assert is_marked({"components": []}, mark) is None
    assert is_marked({"components": [], "edited_timestamp": "2026-03-01"}, mark) is False


# ---------------------------------------------------------------- forms


FORM = Form(
    token="t" * 32, title="Type the phrase", label="destroy ct-112 on pve1", hint="destroy ct-112 on pve1"
)


def test_a_form_fits_and_its_token_comes_back() -> None:
    shown = modal(FORM)
    assert shown is not None
    limits.check_modal(shown)
    assert token_of_form(str(shown["custom_id"])) == "t" * 32


def test_a_form_with_too_much_to_say_is_cut_in_its_words_only() -> None:
    shown = modal(
        Form(token="t", title="漢" * 60, label="x" * 60, hint="y" * 200, initial="z" * 4000, lines=True)
    )
    assert shown is not None
    limits.check_modal(shown)
    field = shown["components"][0]["component"]
    assert field["value"] == "z" * 4000
    assert field["style"] == 2


def test_a_form_that_cannot_hold_its_command_is_not_shown() -> None:
    assert modal(Form(token="t", title="Edit", label="command", initial="z" * 4001)) is None
