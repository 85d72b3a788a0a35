"""The file beside a fan-out's card: everything that was printed, each under its name, within a bound."""

from datetime import UTC, timedelta

from hypothesis import given
from hypothesis import strategies as st

from bot.cards import Cards
from bot.fanout.look import Look
from bot.fanout.output_file import file
from gate.lifecycle import ActionState
from tests.bot.fanout.scenes import READS, dropped, ended, fanout, hosts, running, view
from tests.gate.makers import NOW

LOOK = Look(now=NOW, zone=UTC, secrets=("tr0ub4dor",), files=True)
CARDS = Cards(token_key=b"k" * 32, secrets=(), last_run=lambda _: None)


def content(*outputs: str, most: int = 10_000) -> str:
    actions = [
        ended(view(name, index), output=text)
        for index, (name, text) in enumerate(zip(hosts(len(outputs)), outputs, strict=True), 1)
    ]
    name, found = file(fanout(*actions), LOOK, most=most)
    assert name == "output.txt"
    return found.decode()


def test_every_target_stands_there_with_how_it_ended() -> None:
    one, two, three, four, five = (view(name, index) for index, name in enumerate(hosts(5), 1))
    made = fanout(
        ended(one, output="fine\n\n"),
        ended(two, ActionState.FAILED, exit_code=3, output="a\nb\n", run_s=2.5),
        ended(three, ActionState.LOST, note="connection lost", run_s=41, dropped=1 << 20),
        ended(four, ActionState.FAILED, note="10.0.0.4 refuses tr0ub4dor", run_s=0),
        dropped(five, "nothing ran"),
    )
    assert file(made, LOOK)[1].decode().split("\n\n") == [
        "#k7f3a2 · 5 hosts\nsystemctl reload nginx",
        "== web1 · succeeded · exit 0 · 1.0 s\nfine",
        "== web2 · failed · exit 3 · 2.5 s\na\nb",
        "== web3 · lost · 41 s · connection lost · 1.0 MiB of 1.0 MiB not kept",
        "== web4 · failed · under 0.1 s · 10.0.0.4 refuses ***",
        "== web5 · cancelled · nothing ran\n",
    ]


def test_the_command_is_masked_and_what_cannot_be_seen_is_visible() -> None:
    actions = [
        ended(view(name, index, command="echo tr0ub4dor"), output="a\u202eb\rc")
        for index, name in enumerate(hosts(4), 1)
    ]
    found = file(fanout(*actions), LOOK)[1].decode()
    assert "echo ***" in found
    assert "a\\u{202e}b\nc" in found
    assert "tr0ub4dor" not in found


def test_a_flood_is_cut_in_the_middle_and_what_is_short_stays_whole() -> None:
    found = content("short\n", "a" * 50_000 + "end", most=1_000)
    assert "== web1 · succeeded · exit 0 · 1.0 s\nshort\n" in found
    assert "characters left out here; `details k7f3a2.2` has them" in found
    assert found.endswith("end\n")
    assert len(found) < 1_400


@given(st.lists(st.integers(0, 400), min_size=1, max_size=12), st.integers(0, 1_000))
def test_the_bound_holds_and_whatever_fits_is_whole(lengths: list[int], most: int) -> None:
    found = content(*("x" * length for length in lengths), most=most)
    kept = sum(line.count("x") for line in found.splitlines() if set(line) == {"x"})
    assert kept <= most
    if sum(lengths) <= most:
        assert kept == sum(lengths)


def test_a_file_hangs_on_the_card_where_something_is_left_out_of_it() -> None:
    now = NOW + timedelta(seconds=4)
    plain = [view(name, index) for index, name in enumerate(hosts(4), 1)]

    def attached(*outputs: str, files: bool = True) -> bool:
        actions = [ended(one, output=text) for one, text in zip(plain, outputs, strict=True)]
        return CARDS.draw(fanout(*actions), now=now, zone=UTC, files=files).attachment is not None

    assert not attached("", "", "", "")
    assert not attached("same", "same", "same", "same")
    assert attached("same", "same", "same", "other")
    assert attached(*["line\n" * 30] * 4)
    assert not attached(*["line\n" * 30] * 4, files=False)
    long = ended(plain[0], ActionState.FAILED, exit_code=1, output="a\nb\n")
    rest = [ended(one) for one in plain[1:]]
    assert CARDS.draw(fanout(long, *rest), now=now, zone=UTC, files=True).attachment is not None
    going_on = [ended(plain[0], output="line\n" * 30), *map(running, plain[1:])]
    assert CARDS.draw(fanout(*going_on, brake=READS), now=now, zone=UTC, files=True).attachment is None
