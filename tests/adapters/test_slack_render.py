"""What Slack is sent: held to the simulator's limits, and to showing exactly what is meant."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.slack import render
from bot.ports import Button, ButtonStyle, Form, Message
from bot.text import Span, Style, Text, block, code, muted, strong, visible
from tests.simulators.slack import limits
from tests.simulators.slack.world import shown

PINGS = (
    "<!channel> <!here> <!everyone> <@U_ANA> <!subteam^S1> @everyone @here @channel <#C_OPS> <https://x|y>"
)


def taken(text: Text, buttons: tuple[Button, ...] = ()) -> dict[str, object]:
    """Return the payload for `text`, which Slack takes and nobody is pinged by."""
    payload = render.payload(text, buttons)
    assert limits.message_problem(payload) is None
    assert limits.message_problem(payload, is_update=True) is None
    assert list(limits.pings(payload)) == []
    return payload


def test_what_is_shown_is_the_text() -> None:
    text = Text.of([strong("web1"), " · ", code("df -h")], muted("read-only"), block("a\n\tb"), "end")
    assert shown(taken(text)) == "web1 · df -h\nread-only\na\n\tb\nend"


def test_styles_are_those_of_the_spans() -> None:
    elements = render.blocks(Text.of([strong("a"), muted("b"), code("c"), "d"]))[0]["elements"][0]["elements"]
    assert [one.get("style") for one in elements] == [{"bold": True}, {"italic": True}, {"code": True}, None]


def test_code_that_holds_a_fence_stays_verbatim() -> None:
    """Reports 18 and 19: nothing is parsed, so nothing can close it or eat a backslash."""
    command = "echo '```' \\\\server\\share `x`"
    assert command in shown(taken(Text.of(block(command), [code(command)])))


@pytest.mark.parametrize("make", [Span, strong, muted, code, block])
def test_nothing_pings_in_any_style(make: type[Span]) -> None:
    """Report 17: mentions come from elements, and there are none."""
    assert PINGS in shown(taken(Text.of(make(PINGS))))


def test_nothing_pings_in_a_label() -> None:
    payload = taken(Text.of("x"), (Button(label="<!channel> @here"[:60], token="t"),))
    button = payload["blocks"][1]["elements"][0]  # type: ignore[index]
    assert button["text"] == {"type": "plain_text", "text": "<!channel> @here", "emoji": False}


def test_a_notification_is_escaped_and_short() -> None:
    """Report 17: `text` is markup, so it is the one thing that has to be escaped."""
    text = render.fallback(Text.of("a < b & c > d <!channel>", "x" * 5_000))
    assert text.startswith("a &lt; b &amp; c &gt; d &lt;!channel&gt;\nxxx")
    assert limits.units(text) < limits.MAX_UPDATE_TEXT


def test_an_empty_text_is_something() -> None:
    assert shown(taken(Text())) == "…"
    assert shown(taken(Text.of("", block("")))).strip() == ""


@pytest.mark.parametrize("length", [2_001, 3_000, 3_001, 3_801, 6_000])
def test_a_command_of_any_usual_length_is_whole(length: int) -> None:
    """Reports 14, 15 and 26."""
    command = "x" * (length - 3) + "end"
    fitted = render.fitted(
        Message(body=Text.of("web1", block(command)), buttons=(Button(label="y", token="t"),))
    )
    assert not fitted.cut
    assert not fitted.files
    assert command in shown(taken(fitted.text, (Button(label="y", token="t"),)))


@pytest.mark.parametrize("char", ["x", "\\", '"', "日", "😀", "\n", "<", "\u200b"])
def test_what_is_too_long_is_in_a_file_whole(char: str) -> None:
    """Report 26: a command is cut only beside a file that has all of it, and the cut says so."""
    command = char * 20_000
    fitted = render.fitted(Message(body=Text.of("web1", block(command))))
    taken(fitted.text)
    assert fitted.cut
    name, content = fitted.files[0]
    assert visible(command) in content.decode()
    assert name in fitted.text.plain()


@pytest.mark.parametrize("char", ["x", "日", "😀", "\u200b"])
def test_a_label_is_cut_by_what_slack_counts(char: str) -> None:
    payload = taken(Text.of("x"), (Button(label=char * 60, token="t"),))
    label = payload["blocks"][1]["elements"][0]["text"]["text"]  # type: ignore[index]
    assert limits.units(label) <= 75
    assert label.endswith("…") == (limits.units(visible(char * 60)) > 75)


def test_buttons_keep_their_order_style_and_token() -> None:
    buttons = (
        Button(label="Approve", token="a" * 32, style=ButtonStyle.GO),
        Button(label="Deny", token="a" * 32, style=ButtonStyle.STOP),
        Button(label=" ", token="c"),
    )
    row = taken(Text.of("x"), buttons)["blocks"][1]["elements"]  # type: ignore[index]
    assert [one["value"] for one in row] == ["s1:" + "a" * 32, "s1:" + "a" * 32, "s1:c"]
    assert [one.get("style") for one in row] == ["primary", "danger", None]
    assert row[2]["text"]["text"] == "…"


def test_as_many_buttons_as_slack_takes_and_no_more() -> None:
    buttons = tuple(Button(label=f"{n}", token=f"t{n}") for n in range(26))
    taken(Text.of("x"), buttons[:25])
    with pytest.raises(render.UnfitError, match="26 buttons"):
        render.payload(Text.of("x"), buttons)


@pytest.mark.parametrize("token", ["", "x" * 33, "é"])
def test_a_token_that_is_none_is_refused(token: str) -> None:
    with pytest.raises(render.UnfitError):
        render.payload(Text.of("x"), (Button(label="x", token=token),))


def test_a_text_that_is_too_long_is_refused_before_slack_does() -> None:
    with pytest.raises(render.UnfitError):
        render.payload(Text.of("x" * 20_000))


def test_block_ids_differ() -> None:
    ids = [one["block_id"] for one in render.blocks(Text.of("x"), (Button(label="x", token="t"),))]
    assert len(set(ids)) == len(ids) == 2


texts = st.lists(
    st.lists(
        st.tuples(st.text(max_size=80), st.sampled_from([s for s in Style if s is not Style.BLOCK])),
        max_size=4,
    ).map(lambda spans: tuple(Span(text, style) for text, style in spans))
    | st.text(max_size=200).map(lambda text: (block(text),)),
    max_size=8,
).map(lambda lines: Text(tuple(lines)))


@given(texts)
def test_slack_takes_any_text_and_shows_all_of_it(text: Text) -> None:
    payload = taken(text)
    assert "".join(text.plain().split()) in "".join(shown(payload).split())
    json.dumps(payload)


@given(texts, st.text(max_size=9_000))
def test_parts_leave_nothing_out(text: Text, long: str) -> None:
    message = Message(body=text + Text.of(block(long * 3)), attachment=("f.txt", b"in the file"))
    parts = render.parts(message)
    read = "".join("".join(shown(taken(part)).split()) for part in parts)
    assert "".join(visible(long * 3).split()) in read
    assert "inthefile" in read


# ---------------------------------------------------------------- forms


def test_a_form_is_a_modal_that_slack_takes() -> None:
    form = Form(
        token="t" * 32,
        title="A" * 24,
        label="L" * 45,
        hint="h" * 60,
        initial="x" * 3_000,
        lines=True,
        required=False,
    )
    view = render.view(form, channel="C1", thread="1.0", card="2.0")
    assert limits.view_problem(view) is None
    assert json.loads(view["private_metadata"]) == {"c": "C1", "t": "1.0", "m": "2.0", "k": "s1:" + "t" * 32}
    assert view["blocks"][0]["element"]["initial_value"] == "x" * 3_000


@pytest.mark.parametrize("initial", ["x" * 3_001, "😀" * 1_501])
def test_what_does_not_fit_into_a_field_is_not_put_there_in_part(initial: str) -> None:
    form = Form(token="t", title="Edit", label="Request", initial=initial)
    view = render.view(form, channel="C1", thread="", card="2.0")
    assert limits.view_problem(view) is None
    assert "initial_value" not in view["blocks"][0]["element"]


# ---------------------------------------------------------------- the simulator's own strictness


def _actions(*elements: dict[str, object]) -> dict[str, object]:
    return {"type": "actions", "elements": list(elements)}


def _element(**more: object) -> dict[str, object]:
    return {"type": "button", "action_id": "a", "text": {"type": "plain_text", "text": "x"}, **more}


@pytest.mark.parametrize(
    "blocks",
    [
        [_actions(_element(), _element())],
        [_actions()],
        [_actions(_element(value="x" * 2_001))],
        [_actions(_element(text={"type": "plain_text", "text": "x" * 76}))],
        [{"type": "section", "fields": [{"type": "plain_text", "text": "x" * 2_001}]}],
        [{"type": "section", "text": {"type": "mrkdwn", "text": "x" * 3_001}}],
        [{"type": "divider", "block_id": "a"}, {"type": "divider", "block_id": "a"}],
        [{"type": "divider"}] * 51,
        [{"type": "sparkles"}],
        [{"type": "rich_text", "elements": []}],
        [{"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": []}]}],
    ],
)
def test_the_simulator_refuses_what_slack_refuses(blocks: list[dict[str, object]]) -> None:
    """The holes of slack_sdk.models among them."""
    problem = limits.message_problem({"text": "x", "blocks": blocks})
    assert problem is not None
    assert problem[0] == "invalid_blocks"


def test_the_simulator_sees_pings() -> None:
    mention = {"type": "rich_text", "elements": [{"type": "user", "user_id": "U1"}]}
    assert len(list(limits.pings({"text": "<!channel> <@U1>", "blocks": [mention]}))) == 3


def test_the_simulator_wants_a_submit_button() -> None:
    view = render.view(Form(token="t", title="x", label="y"), channel="C", thread="", card="1.0")
    view.pop("submit")
    assert limits.view_problem(view) is not None


def test_the_largest_texts_that_are_not_measured_fit() -> None:
    """A card that grows is drawn often, so small texts are taken without measuring their JSON."""
    buttons = tuple(Button(label="\\" * 60, token='"' * 32) for _ in range(render._FEW))
    spans = [muted("\\" * 90), code('"' * 90)] * (render._FEW // 2 - 1)
    for text, pressed in ((Text.of("\\" * render._SURELY), buttons[:-2]), (Text.of(spans), ())):
        assert limits.units(text.plain()) <= render._SURELY
        assert len(json.dumps(render.blocks(text, pressed), ensure_ascii=False)) <= render.MAX_JSON


def test_many_empty_lines_are_one_piece() -> None:
    text = Text.of(*[""] * 3_000, "end")
    assert shown(taken(text)) == "\n" * 3_000 + "end"
