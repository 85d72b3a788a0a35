"""Paces that people may ask for, for tests that take any."""

from hypothesis import strategies as st

from gate.fanout import MOST, Pace


def _stop(said: tuple[str, int] | None) -> dict[str, int]:
    return {} if said is None else dict([said])


PACES = st.builds(
    lambda canary, batch, stop, pause_s: Pace(canary=canary, batch=batch, pause_s=pause_s, **_stop(stop)),
    st.none() | st.integers(0, MOST),
    st.none() | st.integers(0, MOST),
    st.none()
    | st.tuples(st.just("stop_after"), st.integers(0, MOST))
    | st.tuples(st.just("stop_percent"), st.integers(1, 100)),
    st.none() | st.integers(0, 3600),
)
