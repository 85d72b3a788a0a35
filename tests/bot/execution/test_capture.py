import hashlib

from hypothesis import given
from hypothesis import strategies as st

from bot.execution.capture import Capture
from bot.ports import Streams


def _feed(chunks: list[bytes], *, head: int, tail: int) -> Capture:
    capture = Capture(head_bytes=head, tail_bytes=tail, on_output=lambda _: None)
    for chunk in chunks:
        capture.feed(chunk)
    return capture


@given(chunks=st.lists(st.binary(max_size=40)), head=st.integers(0, 30), tail=st.integers(0, 30))
def test_head_tail_total_and_hash_are_those_of_the_whole(chunks: list[bytes], head: int, tail: int) -> None:
    whole = b"".join(chunks)
    found = _feed(chunks, head=head, tail=tail).result()
    assert (found.total, found.sha256) == (len(whole), hashlib.sha256(whole).hexdigest())
    if len(whole) <= head + tail:
        assert (found.head, found.tail, found.dropped) == (whole, b"", 0)
    else:
        assert found.head == whole[:head]
        assert found.tail == whole[len(whole) - tail :]
        assert found.dropped == len(whole) - head - tail


def test_memory_stays_bounded() -> None:
    capture = _feed([b"x" * 1000] * 1000, head=100, tail=500)
    assert len(capture._head) + len(capture._tail) <= 100 + 2 * 500


def test_every_chunk_reaches_the_sink() -> None:
    seen: list[bytes] = []
    capture = Capture(head_bytes=1, tail_bytes=1, on_output=seen.append)
    capture.feed(b"abc")
    capture.feed(b"def")
    assert seen == [b"abc", b"def"]


def test_a_failing_sink_is_dropped_and_the_output_kept() -> None:
    calls: list[bytes] = []

    def broken(chunk: bytes) -> None:
        calls.append(chunk)
        raise RuntimeError("display gone")

    capture = Capture(head_bytes=10, tail_bytes=10, on_output=broken)
    capture.feed(b"abc")
    capture.feed(b"def")
    assert calls == [b"abc"]
    assert capture.result().head == b"abcdef"


def test_streams_are_kept_apart_where_asked_and_say_when_they_are_cut() -> None:
    capture = Capture(head_bytes=2, tail_bytes=2, on_output=lambda _: None, apart=True)
    capture.feed(b"out")
    capture.feed(b"err", stderr=True)
    assert capture.result().streams == Streams(stdout=b"out", stderr=b"err")
    capture.feed(b"put")
    assert capture.result().streams == Streams(stdout=b"outp", stderr=b"err", cut=True)
    capture.feed(b"more")
    assert capture.result().streams == Streams(stdout=b"outp", stderr=b"err", cut=True)
    assert _feed([b"out"], head=2, tail=2).result().streams is None
