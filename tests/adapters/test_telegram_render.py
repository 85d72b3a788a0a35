"""Spans become characters and entities: what is read is exactly the text, and nobody is pinged."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.telegram.render import MAX_ENTITIES, MAX_LABEL_UNITS, fits, keyboard, render, units
from bot.ports import Button
from bot.text import Span, Style, Text, block, code, muted, strong
from tests.simulators.telegram.limits import found, sliced, taken
from tests.simulators.telegram.world import World

PINGS = ["@everyone", "@here", "@ana_tg", "<!channel>", "<@U1>", "tg://user?id=7", "[x](tg://user?id=7)"]


def shown(text: Text) -> list[tuple[str, str]]:
    rendered = render(text)
    return [(one.type, sliced(rendered.text, one.offset, one.length)) for one in rendered.entities]


def pings(text: Text) -> list[str]:
    """Return whom the server would tell."""
    rendered = render(text)
    world = World()
    world.note_pings(*taken(rendered.text, [one.to_dict() for one in rendered.entities]))
    return world.pings


def test_styles_become_entities_with_utf16_offsets() -> None:
    """Report 34: no markup, so nothing can be misread."""
    text = Text.of(["😀 ", strong("web1"), " · ", code("df `-h` *x*"), " ", muted("ok")], block("a\n_b_"))
    assert render(text).text == "😀 web1 · df `-h` *x* ok\na\n_b_"
    assert shown(text) == [("bold", "web1"), ("code", "df `-h` *x*"), ("italic", "ok"), ("pre", "a\n_b_")]


def test_two_blocks_stay_two() -> None:
    assert shown(Text.of(block("a"), block("b"))) == [("pre", "a"), ("pre", "b")]


@pytest.mark.parametrize("name", PINGS)
def test_nothing_pings(name: str) -> None:
    for span in (Span(name), strong(name), muted(name), code(name), block(name)):
        text = Text.of([span, " and"], [Span("x "), span])
        assert pings(text) == []
        assert render(text).text == text.plain()


@pytest.mark.parametrize("text", ["say /yes", "/approve k7f3a2", "(/stop)", "/var 18 G of 20 G"])
def test_no_command_can_be_tapped(text: str) -> None:
    """A tapped command is said at once, by who tapped it: it could be a yes."""
    rendered = render(Text.of(text))
    assert rendered.text == text
    assert not found(rendered.text, [one.to_dict() for one in rendered.entities])


def test_a_slash_between_words_is_no_command() -> None:
    assert shown(Text.of("and/or 1/2 https://sayso.example/x /etc/hosts")) == []


def test_a_name_made_of_two_spans_does_not_ping() -> None:
    assert pings(Text.of(["@", strong("ana_tg")])) == []
    assert pings(Text.of([strong("see @"), code("ana"), "_tg"])) == []


def test_nothing_pings_beyond_the_hundredth_entity() -> None:
    """Telegram ignores entities beyond a hundred: names in the rest would be live."""
    many = Text.of(*([strong(f"n{number}"), " @ana_tg"] for number in range(150)))
    assert pings(many) == []
    assert len(render(many).entities) <= MAX_ENTITIES
    assert render(many).text == many.plain()


def test_emphasis_gives_way_before_code_does() -> None:
    many = Text.of(*([strong(f"n{number}"), " ", code("x")] for number in range(60)))
    assert {kind for kind, _ in shown(many)} == {"code"}


def test_hidden_characters_are_seen() -> None:
    assert render(Text.of([code("rm\u200b -rf"), strong("\u202e")])).text == "rm\\u{200b} -rf\\u{202e}"


@pytest.mark.parametrize("text", [Text(), Text.of(""), Text.of("  ", "\n"), Text.of(block(""))])
def test_nothing_is_shown_as_nothing(text: Text) -> None:
    assert render(text).text == "(nothing to show)"


def test_a_text_fits_by_utf16_units() -> None:
    assert fits(Text.of("x" * 4096))
    assert not fits(Text.of("x" * 4097))
    assert fits(Text.of("😀" * 2048))
    assert not fits(Text.of("😀" * 2049))


STYLED = st.lists(
    st.lists(
        st.builds(
            Span,
            st.text(alphabet=st.sampled_from("a @_😀é\u200b\n/<b>*`"), max_size=12),
            st.sampled_from(Style),
        ),
        max_size=4,
    ),
    max_size=5,
)


@given(STYLED)
def test_any_text_is_taken_shown_exactly_and_pings_nobody(lines: list[list[Span]]) -> None:
    text = Text.of(*lines)
    rendered = render(text)
    entities = [one.to_dict() for one in rendered.entities]
    kept, kept_entities = taken(rendered.text, entities)
    assert kept == (text.plain().strip() or "(nothing to show)")
    assert found(kept, kept_entities) == []


# ---------------------------------------------------------------- buttons


def labels(*texts: str) -> list[list[str]]:
    markup = keyboard([Button(label=text, token=f"t{n}") for n, text in enumerate(texts)])
    assert markup is not None
    return [[button.text for button in row] for row in markup.inline_keyboard]


def test_short_labels_share_a_row_and_long_ones_do_not() -> None:
    assert labels("Approve", "Deny", "Details", "Edit") == [["Approve", "Deny", "Details"], ["Edit"]]
    long = "Project sync, Tue 1 Dec 14:00"
    assert labels(long, "1:1 with Bo, Wed 2 Dec 10:00", "Cancel") == [
        [long],
        ["1:1 with Bo, Wed 2 Dec 10:00"],
        ["Cancel"],
    ]


@pytest.mark.parametrize("label", ["確" * 60, "😀" * 40, "é" * 200])
def test_a_label_is_cut_by_whole_characters(label: str) -> None:
    ((shown_label,),) = labels(label)
    assert units(shown_label) <= MAX_LABEL_UNITS
    shown_label.encode("utf-8")
    assert shown_label.rstrip("…") in label


def test_a_label_hides_nothing() -> None:
    assert labels("yes\u202e", " ") == [["yes\\u{202e}", "…"]]


def test_a_payload_stays_within_its_bytes() -> None:
    """Report 35: the limit is 64 bytes, and it is the token that is limited, never cut."""
    markup = keyboard([Button(label="確認" * 10, token="a" * 32)])
    assert markup is not None
    data = markup.inline_keyboard[0][0].callback_data
    assert data == "s1:" + "a" * 32


@pytest.mark.parametrize("token", ["", "a" * 33, "é", "確" * 22])
def test_what_is_no_token_is_refused(token: str) -> None:
    with pytest.raises(ValueError, match="token"):
        keyboard([Button(label="x", token=token)])


def test_too_many_buttons_are_refused() -> None:
    assert keyboard([]) is None
    with pytest.raises(ValueError, match="26 buttons"):
        keyboard([Button(label="x", token=f"t{n}") for n in range(26)])
