"""set_trust: what the phrase names, how long a rule lasts, and what is refused."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from bot.loading.rules import load_rules
from gate.domain import ReasonCode, Risk, Target, TargetId
from gate.phrases import is_typable
from gate.resolve.decision import Clarify, Confirm, Decision, Deny
from gate.resolve.set_trust import TrustFacts, resolve
from gate.shell.classify import classify
from tests.gate.makers import NOW, PVE1, WEB1, action

RULES = load_rules()
RESTART = "systemctl restart caddy"


def ask(
    command: str = RESTART,
    lasts: str = "30 days",
    *,
    targets: tuple[Target, ...] = (WEB1,),
    zone: str = "UTC",
    secrets: tuple[str, ...] = (),
) -> Decision:
    verdict = classify(command, rules=RULES)
    facts = TrustFacts(
        actions=[(action(command, target=one), verdict) for one in targets],
        known=RULES,
        request_at=NOW,
        zone=ZoneInfo(zone),
        secrets=secrets,
    )
    slots = {"command": command, "targets": "\n".join(one.id for one in targets)}
    return resolve(slots | ({"lasts": lasts} if lasts else {}), facts)


def confirmed(decision: Decision) -> Confirm:
    assert isinstance(decision, Confirm), decision
    return decision


def test_the_phrase_names_all_that_is_trusted() -> None:
    found = confirmed(ask())
    assert found.phrase == "trust systemctl restart caddy on web1 until 1 Apr 2026"
    assert found.slots == {
        "command": RESTART,
        "targets": "web1",
        "lasts": "30 days",
        "ceiling": "reversible_low",
        "expires_at": (NOW + timedelta(days=30)).isoformat(),
        "until": "1 Apr 2026",
    }
    assert "It restarts a service (reversible)." in found.question


def test_the_ceiling_is_the_risk_of_now() -> None:
    assert confirmed(ask("apt-get install -y nginx")).slots["ceiling"] == Risk.CONFIG_MUTATION


@pytest.mark.parametrize(
    ("lasts", "ends_at", "until"),
    [
        ("1 hour", NOW + timedelta(hours=1), "2 Mar 2026"),
        ("for 2h", NOW + timedelta(hours=2), "2 Mar 2026"),
        ("7d", NOW + timedelta(days=7), "9 Mar 2026"),
        ("2 Weeks", NOW + timedelta(days=14), "16 Mar 2026"),
        ("3 months", NOW + timedelta(days=90), "31 May 2026"),
        ("until 30 May 2026", datetime(2026, 5, 31, tzinfo=UTC), "30 May 2026"),
        ("until 2026-05-30", datetime(2026, 5, 31, tzinfo=UTC), "30 May 2026"),
        ("2 March 2026", datetime(2026, 3, 3, tzinfo=UTC), "2 Mar 2026"),
        ("  2  Mar.  2026 ", datetime(2026, 3, 3, tzinfo=UTC), "2 Mar 2026"),
    ],
)
def test_how_long_it_lasts(lasts: str, ends_at: datetime, until: str) -> None:
    slots = confirmed(ask(lasts=lasts)).slots
    assert (datetime.fromisoformat(slots["expires_at"]), slots["until"]) == (ends_at, until)


def test_the_last_day_is_that_of_who_asked() -> None:
    slots = confirmed(ask(lasts="until 30 May 2026", zone="America/New_York")).slots
    assert datetime.fromisoformat(slots["expires_at"]) == datetime(2026, 5, 31, 4, tzinfo=UTC)
    assert confirmed(ask(lasts="12h", zone="Pacific/Auckland")).slots["until"] == "3 Mar 2026"


@pytest.mark.parametrize(
    "lasts", ["", "soon", "for ever", "until 31 Feb 2026", "until 3 Foo 2026", "2026-13-01"]
)
def test_without_a_length_that_is_read_it_asks(lasts: str) -> None:
    found = ask(lasts=lasts)
    assert isinstance(found, Clarify)
    assert [one.patch for one in found.options] == [
        {"lasts": "1 day"},
        {"lasts": "7 days"},
        {"lasts": "30 days"},
    ]
    assert found.free == "lasts"
    assert ("is no length" in found.question) is bool(lasts)


@pytest.mark.parametrize(
    ("lasts", "why"),
    [
        ("91 days", "90 days at most"),
        ("13 weeks", "90 days at most"),
        ("until 31 May 2026", "90 days at most"),
        ("9999 months", "90 days at most"),
        ("0 days", "over already"),
        ("until 1 Mar 2026", "over already"),
    ],
)
def test_what_is_too_long_or_over_is_refused(lasts: str, why: str) -> None:
    found = ask(lasts=lasts)
    assert isinstance(found, Deny)
    assert found.reason.code is ReasonCode.UNFIT
    assert why in found.reason.text


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("rm -rf /srv/x", "it destroys something"),
        ("rm -rf /", "it destroys something"),
        ("uptime", "it changes nothing"),
        ("frobnicate x", "frobnicate is not known here"),
        ("systemctl restart caddy; systemctl restart nginx", "more than one plain command"),
        ("systemctl restart cad*", "more than one plain command"),
        ("apt-get install -y hunter2", "looks like a secret"),
    ],
)
def test_what_no_rule_can_cover_is_refused_at_once(command: str, why: str) -> None:
    found = ask(command, secrets=("hunter2",))
    assert isinstance(found, Deny)
    assert why in found.reason.text


def test_where_the_verdict_assumes_another_shell_nothing_is_trusted() -> None:
    found = ask(targets=(WEB1, replace(PVE1, shell="fish")))
    assert isinstance(found, Deny)
    assert "its shell is fish" in found.reason.text


def test_a_phrase_that_cannot_be_typed_says_less() -> None:
    quoted = confirmed(ask("systemctl restart 'caddy'"))
    assert quoted.phrase == "trust this command on web1 until 1 Apr 2026"
    assert "systemctl restart 'caddy'" in quoted.question
    many = tuple(replace(WEB1, id=TargetId(f"a-rather-long-name-{n}")) for n in range(4))
    assert confirmed(ask(targets=many)).phrase == "trust this command on 4 targets until 1 Apr 2026"
    assert confirmed(ask(targets=(WEB1, PVE1))).phrase.endswith("caddy on web1, pve1 until 1 Apr 2026")


@pytest.mark.parametrize(
    "text", ["a -- b", "a...b", "say 'x'", "a  b", "a\u00e9", "a\nb", "a" * 81, " a", "a\\b"]
)
def test_what_a_phone_changes_is_not_typable(text: str) -> None:
    assert not is_typable(text)
    assert is_typable("trust this")
