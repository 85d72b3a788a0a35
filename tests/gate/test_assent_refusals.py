"""Assent: what is a no, and that a no wins over a yes."""

import pytest

from gate.domain import AssentVerdict
from tests.gate.assent_cases import GRANTS, heard


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("no", ""),
        ("No!", ""),
        ("nope, thanks", ""),
        ("please don't", ""),
        ("do not restart it", ""),
        ("👎", ""),
        ("❌ not this one", ""),
        ("hands off", ""),
        ("not approved", ""),
        ("yes yes, but actually no", "yes yes"),
        ("I changed my mind", ""),
        ("no, backup is running", "backup is running"),
        ("No - Backup läuft", "Backup läuft"),
        ("cancel it, wrong host", "wrong host"),
        ("no because the backup is running", "the backup is running"),
        ("no, what are you doing?", "what are you doing?"),
        ("the backup is running, so no", "the backup is running"),
        ("noooo", ""),
        ("ship it? really? hmm cancel it", "ship it? really"),
        ("why? no", "why"),
        ("cancle it", ""),
        ("nein", ""),
        ("ni hablar", ""),
        ("laisse tomber", ""),
        ("لا", ""),
        ("нет", ""),
    ],
)
def test_a_refusal_is_one_and_keeps_its_reason(text: str, reason: str) -> None:
    found = heard(text)
    assert found.verdict is AssentVerdict.REFUSE, found.because
    assert found.reason == reason


@pytest.mark.parametrize("text", ["no?", "no puedo entrar a la VPN", "no internet here", "no, restart it"])
def test_a_no_that_is_not_a_refusal_refuses_nothing(text: str) -> None:
    assert heard(text).verdict in {AssentVerdict.AMBIGUOUS, AssentVerdict.OTHER}


def test_a_verb_that_refuses_is_the_deed_only_with_its_object() -> None:
    pending = ("systemctl stop nginx on web1",)
    assert heard("stop nginx", pending).verdict is AssentVerdict.GRANT
    assert heard("stop", pending).verdict is not AssentVerdict.GRANT
    assert heard("stop").verdict is AssentVerdict.REFUSE


SUFFIXES = [
    "no",
    "not",
    "but no",
    "don't",
    "never mind",
    "cancel",
    "stop",
    "wait",
    "if it is idle",
    "unless used",
    "when ready",
    "later",
    "tomorrow",
    "at 18:00",
    "after lunch",
    "maybe",
    "I think",
    "?",
    "right?",
    "on web9",
    "with --force",
    "5433",
    "except caddy",
    "but not web1",
    "instead",
    "👎",
    "❌",
    "🤔",
    "pero no",
    "nicht",
    "mais pas",
    "لا",
    "sauf si",
    "außer web1",
    "не",
]


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("glue", [" ", ", ", ". ", "\n", " - "])
def test_a_refusal_or_condition_behind_a_yes_wins(suffix: str, glue: str) -> None:
    for grant in GRANTS:
        assert heard(f"{grant}{glue}{suffix}").verdict is not AssentVerdict.GRANT, grant
