"""Whatever a file holds, reading it ends in a document or in faults, each with a place."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bot.loading.library import put_together, read_text
from bot.loading.tree import grow
from tests.runbooks import PROVISION

LINES = PROVISION.splitlines(keepends=True)


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=400))
@example(b"\xef\xbb\xbfversion: 1")
@example(b"%YAML 1.1\n---\na: 1")
@example(b"a: !!binary x")
@example(b"? a\n: b")
@example(b"&a {*a : 1}")
@example(b"--- |\n text\n...\n--- b")
def test_any_bytes_are_read_or_refused(raw: bytes) -> None:
    tree, faults = grow(raw)
    assert all(fault.what and fault.mend for fault in faults)
    assert tree.data is None or isinstance(tree.data, dict | list | str | int | float | bool)


@st.composite
def mangled(draw: st.DrawFn) -> str:
    """Return PROVISION with some lines gone, doubled, moved or changed."""
    lines = list(LINES)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(lines) - 1))
        match draw(st.sampled_from(["drop", "double", "indent", "value", "key"])):
            case "drop":
                del lines[at]
            case "double":
                lines.insert(at, lines[at])
            case "indent":
                lines[at] = "  " + lines[at]
            case "value":
                lines[at] = (
                    lines[at].split(":")[0]
                    + ": "
                    + draw(st.sampled_from(["x", "5", "[a]", "{}", "~"]))
                    + "\n"
                )
            case _:
                lines[at] = lines[at].replace(":", "s:", 1)
        if not lines:
            break
    return "".join(lines)


@settings(max_examples=300, deadline=None)
@given(mangled())
def test_a_mangled_runbook_is_loaded_whole_or_refused_with_lines(text: str) -> None:
    read = read_text(text.encode(), file="x.yaml")
    library, faults = put_together([read])
    assert bool(faults) or list(library.documents) == [read.document.id if read.document else ""]
    count = max(1, len(text.splitlines()) + 1)
    assert all(0 <= fault.line <= count and fault.what and fault.mend for fault in faults), faults


def test_a_bomb_of_aliases_is_refused_before_it_grows() -> None:
    lines = ["a: &a [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join([f'*{chr(97 + n)}'] * 10)}]" for n in range(9)]
    read = read_text("\n".join(lines).encode())
    assert read.document is None
    assert any("anchor" in fault.what for fault in read.faults)


@pytest.mark.parametrize(
    "raw",
    [
        b"[" * 200_000,
        b"a: " * 60_000,
        b"- x\n" * 60_000,
        b"x" * 300_000,
        b"? " * 100_000,
        b"{a: " * 50_000,
    ],
)
def test_a_file_that_is_too_large_or_too_deep_is_refused(raw: bytes) -> None:
    read = read_text(raw)
    assert read.document is None
    assert 1 <= len(read.faults) < 20


def test_words_stay_words() -> None:
    fields = grow(b"title: no\naliases: [2026-01-01, 12:30, 0100, ~x, off]\n")[0].data
    assert isinstance(fields, dict)
    assert fields["aliases"] == ["2026-01-01", "12:30", "0100", "~x", "off"]
    assert fields["title"] == "no"
