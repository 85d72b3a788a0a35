"""Each fact is judged by itself, and each fault has words and a code of its own."""

import pytest

from bot.doctor import findings
from bot.doctor.findings import Access, Status
from bot.execution.check import Reach

UID = 1000


@pytest.mark.parametrize(
    ("finding", "status", "code"),
    [
        (findings.python((3, 11)), Status.OK, "ok"),
        (findings.python((3, 10)), Status.FAIL, "python_too_old"),
        (findings.config((), "x")[0], Status.OK, "ok"),
        (findings.config(("bad",), "x")[0], Status.FAIL, "config_error"),
        (findings.config_access(Access(exists=False), "x", uid=UID), Status.OK, "ok"),
        (findings.config_access(Access(exists=True, mode=0o644, uid=UID), "x", uid=UID), Status.OK, "ok"),
        (findings.config_access(Access(exists=True, mode=0o644, uid=0), "x", uid=UID), Status.OK, "ok"),
        (
            findings.config_access(Access(exists=True, mode=0o664, uid=UID), "x", uid=UID),
            Status.FAIL,
            "config_writable_by_others",
        ),
        (
            findings.config_access(Access(exists=True, mode=0o600, uid=7), "x", uid=UID),
            Status.WARN,
            "config_of_somebody_else",
        ),
        (findings.state_access(Access(exists=False), "x", uid=UID), Status.OK, "ok"),
        (findings.state_access(Access(exists=True, mode=0o700, uid=UID), "x", uid=UID), Status.OK, "ok"),
        (findings.state_access(Access(exists=True, mode=0o710, uid=UID), "x", uid=UID), Status.OK, "ok"),
        (
            findings.state_access(Access(exists=True, mode=0o755, uid=UID), "x", uid=UID),
            Status.FAIL,
            "state_open_to_others",
        ),
        (
            findings.state_access(Access(exists=True, mode=0o700, uid=7), "x", uid=UID),
            Status.FAIL,
            "state_of_somebody_else",
        ),
        (findings.key_access(Access(exists=False), "x"), Status.OK, "ok"),
        (findings.key_access(Access(exists=True, mode=0o600), "x"), Status.OK, "ok"),
        (findings.key_access(Access(exists=True, mode=0o640), "x"), Status.FAIL, "key_open_to_others"),
        (findings.disk(free=10 * 2**30, total=20 * 2**30, path="x"), Status.OK, "ok"),
        (findings.disk(free=2**29, total=20 * 2**30, path="x"), Status.WARN, "disk_almost_full"),
        (findings.disk(free=2**20, total=20 * 2**30, path="x"), Status.FAIL, "disk_full"),
        (findings.disk(free=0, total=0, path="x"), Status.FAIL, "disk_full"),
        (findings.instance(writer=None, answers=False, socket="s"), Status.OK, "ok"),
        (findings.instance(writer=7, answers=True, socket="s"), Status.WARN, "second_instance"),
        (findings.instance(writer=7, answers=False, socket="s"), Status.WARN, "instance_without_socket"),
        (findings.instance(writer=None, answers=True, socket="s"), Status.FAIL, "socket_without_lock"),
        (findings.ledger(None, entries=0), Status.OK, "ok"),
        (findings.ledger(None, entries=5), Status.OK, "ok"),
        (findings.ledger("entry 3 was changed", entries=2), Status.FAIL, "ledger_broken"),
        (findings.own_clock(0.0), Status.OK, "ok"),
        (findings.own_clock(4.0), Status.OK, "ok"),
        (findings.own_clock(60.0), Status.FAIL, "clock_went_back"),
        (findings.target("w", Reach(ok=True)), Status.OK, "ok"),
        (
            findings.target("w", Reach(ok=True, cause="skew", note="w: late. Do x.")),
            Status.WARN,
            "clock_skew",
        ),
        (findings.target("w", Reach(ok=False, cause="auth", note="w: no. Do x.")), Status.FAIL, "auth"),
    ],
)
def test_a_fact_is_judged(finding: findings.Finding, status: Status, code: str) -> None:
    assert (finding.status, finding.code) == (status, code)
    assert bool(finding.mend) == (status is not Status.OK)
    assert finding.what


def test_a_note_is_split_into_what_and_how_to_mend() -> None:
    finding = findings.target(
        "web1", Reach(ok=False, cause="refused", note="web1: refuses. Check sshd. Then x.")
    )
    assert finding.name == "target web1"
    assert (finding.what, finding.mend) == ("web1: refuses", "Check sshd. Then x.")
