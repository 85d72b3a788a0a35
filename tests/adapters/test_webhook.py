"""The webhook listener: who is let in, what is taken, and what a sender is told."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from adapters.webhook import formats
from adapters.webhook.port import WebhookPort
from adapters.webhook.settings import Settings
from adapters.webhook.setup import page
from bot.ports import InboundKind, Message, PlaceRef, RejectedError
from bot.text import Text
from gate.signals import SignalError, SignalStatus
from tests.adapters.webhook_room import SECRET, Inbox, alert, alertmanager, room, settings
from tests.kit import START, ScriptedClock

NOWHERE = PlaceRef(platform="webhook", channel="am")


async def test_what_alertmanager_sends_is_taken_as_signals(tmp_path: Path) -> None:
    resolved = alert(status="resolved", fingerprint="ff", labels={"alertname": "Up", "n": 1})
    async with room(tmp_path) as there:
        status, said = await there.send("am", alertmanager(alert(), resolved))
        assert (status, json.loads(said)) == (200, {"taken": 2, "known": False})
        one, two = there.inbox.signals()
        (inbound,) = there.inbox.taken
    assert inbound.kind is InboundKind.SIGNAL
    assert (inbound.place.channel, inbound.account.is_bot, inbound.addressed) == ("am", True, False)
    assert (one.source, one.fingerprint, one.status, one.starts_at) == (
        "am",
        "1a30ba71cca2921f",
        SignalStatus.FIRING,
        START,
    )
    assert (one.severity, one.group, one.says) == (
        "critical",
        '{}:{alertname="DiskFull"}',
        "/var is 93 % full",
    )
    assert (two.status, two.labels["n"], two.severity) == (SignalStatus.RESOLVED, "1", "")


async def test_the_same_delivery_is_known_when_it_comes_again(tmp_path: Path) -> None:
    async with room(tmp_path) as there:
        await there.send("am", alertmanager())
        assert json.loads((await there.send("am", alertmanager()))[1]) == {"taken": 0, "known": True}
        assert len(there.inbox.taken) == 1


async def test_nothing_is_acknowledged_that_was_not_stored(tmp_path: Path) -> None:
    async with room(tmp_path) as there:
        there.inbox.full = True
        status, said = await there.send("am", alertmanager())
        assert status == 503
        assert "not taken" in said
        there.inbox.full = False
        assert (await there.send("am", alertmanager()))[0] == 200


@pytest.mark.parametrize("token", ["", "wrong", f"{SECRET}x", SECRET[:-1]])
async def test_another_secret_opens_nothing(tmp_path: Path, token: str) -> None:
    async with room(tmp_path) as there:
        status, said = await there.send("am", alertmanager(), token=token)
        assert status == 401
        assert SECRET not in said
        assert there.inbox.taken == []


@pytest.mark.parametrize(
    "headers",
    [{}, {"Authorization": f"Basic {SECRET}"}, {"Authorization": SECRET}, {"Authorization": "Bearer é"}],
)
async def test_only_a_bearer_secret_is_one(tmp_path: Path, headers: dict[str, str]) -> None:
    async with room(tmp_path) as there:
        assert (await there.send("am", alertmanager(), headers=headers))[0] == 401


async def test_what_grafana_signs_is_taken(tmp_path: Path) -> None:
    body = json.dumps(alertmanager(version="1", orgId=1, title="[FIRING:1]", state="alerting")).encode()
    async with room(tmp_path) as there:
        sent = there.signed(body, prefix="X-Grafana-Alerting")
        assert (await there.send("grafana", body, headers=sent))[0] == 200
        assert (await there.send("grafana", body, headers=sent, method="PUT"))[0] == 200
        assert [one.source for one in there.inbox.signals()] == ["grafana"]


@pytest.mark.parametrize("off_s", [-301, 301])
async def test_a_signature_is_good_for_a_while(tmp_path: Path, off_s: int) -> None:
    body = json.dumps(alertmanager(version="1")).encode()
    async with room(tmp_path) as there:
        late = there.signed(body, prefix="X-Grafana-Alerting", off_s=off_s)
        status, said = await there.send("grafana", body, headers=late)
        assert status == 401
        assert "300 s off" in said
        good = there.signed(body, prefix="X-Grafana-Alerting", off_s=off_s // 2)
        assert (await there.send("grafana", body, headers=good))[0] == 200


async def test_a_signature_covers_the_body_and_its_time(tmp_path: Path) -> None:
    body, other = b'{"name": "a"}', b'{"name": "b"}'
    async with room(tmp_path) as there:
        sent = there.signed(body)
        assert (await there.send("signed", other, headers=sent))[0] == 401
        moved = {**sent, "X-Sayso-Timestamp": str(int(sent["X-Sayso-Timestamp"]) + 1)}
        assert (await there.send("signed", body, headers=moved))[0] == 401
        assert (await there.send("signed", body, headers=there.signed(body, key="another")))[0] == 401
        assert (await there.send("signed", body, headers={}))[0] == 401
        prefixed = {**sent, "X-Sayso-Signature": f"sha256={sent['X-Sayso-Signature'].upper()}"}
        assert (await there.send("signed", body, headers=prefixed))[0] == 200


async def test_what_is_overheard_and_sent_again_is_known(tmp_path: Path) -> None:
    body = b'{"name": "backup failed"}'
    async with room(tmp_path) as there:
        sent = there.signed(body)
        await there.send("signed", body, headers=sent)
        assert json.loads((await there.send("signed", body, headers=sent))[1])["known"]
        there.clock.advance(1)  # the same words, signed anew, are another report
        assert not json.loads((await there.send("signed", body, headers=there.signed(body)))[1])["known"]


async def test_the_generic_form_says_what_it_is_about(tmp_path: Path) -> None:
    report = {
        "id": "b1",
        "name": "BackupFailed",
        "summary": "no space",
        "severity": "page",
        "group": "nightly",
        "labels": {"host": "web1"},
    }
    async with room(tmp_path) as there:
        assert (await there.send("cron", report))[0] == 200
        assert (await there.send("cron", {"signals": [{**report, "id": "b2", "status": "resolved"}]}))[
            0
        ] == 200
        assert (
            await there.send("cron", [{"name": "x", "starts_at": "2026-03-02T13:00:00", "fingerprint": "f"}])
        )[0] == 200
        first, second, third = there.inbox.signals()
    assert (first.name, first.says, first.severity, first.group) == (
        "BackupFailed",
        "no space",
        "page",
        "nightly",
    )
    assert first.labels == {"host": "web1", "alertname": "BackupFailed"}
    assert (first.fingerprint, second.status) == (second.fingerprint, SignalStatus.RESOLVED)
    assert (third.fingerprint, third.starts_at.hour) == ("f", 13)


@pytest.mark.parametrize(
    ("source", "body", "what"),
    [
        ("am", b"{", "the body is no JSON"),
        ("am", b"[" * 100_000, "the body is no JSON"),
        ("am", [], "the body is no object"),
        ("am", {"alerts": {}}, "alerts is no list"),
        ("am", {"alerts": []}, "it reports nothing"),
        ("am", {"alerts": ["x"]}, "alerts[0] is no object"),
        ("am", alertmanager(version="5"), "version is 5"),
        ("am", alertmanager(alert(status="maybe")), "alerts[0].status"),
        ("am", alertmanager(alert(startsAt="soon")), "alerts[0].startsAt"),
        ("am", alertmanager(alert(startsAt=None)), "alerts[0].startsAt"),
        ("am", alertmanager(alert(labels=["x"])), "alerts[0].labels"),
        ("cron", {"name": "x"}, "id or starts_at"),
        ("cron", {"id": "1"}, "signals[0].name is missing"),
        ("cron", {"id": "1", "name": "x", "run": "rm -rf /"}, "signals[0].run is not known"),
        ("cron", {"signals": [{"id": "1", "name": "x"}] * 2001}, "the most is 2000"),
        ("cron", "x", "signals is no list"),
    ],
)
async def test_what_does_not_fit_is_refused_with_its_field(
    tmp_path: Path, source: str, body: Any, what: str
) -> None:
    async with room(tmp_path) as there:
        status, said = await there.send(source, body)
        assert status == 400
        assert what in said
        assert there.inbox.taken == []


def test_however_deep_it_is_nested_it_is_taken_or_refused() -> None:
    outcomes = set()
    for depth in range(1, 1200):  # somewhere here it can be read still, and not be written any more
        labels = {"alertname": "x", "a": None}
        body = json.dumps(alertmanager(alert(labels=labels))).replace("null", "[" * depth + "]" * depth)
        try:
            formats.read("alertmanager", body.encode(), source="am", now=START)
        except SignalError as error:
            outcomes.add(str(error))
    assert outcomes <= {"it is nested too deep", "the body is no JSON"}
    assert outcomes


async def test_what_is_too_large_too_often_or_nobodys_is_refused(tmp_path: Path) -> None:
    file = str(tmp_path / "secret")
    sources = {"am": {"format": "alertmanager", "token_file": file, "per_minute": 2}}
    async with room(tmp_path, max_bytes=2048, sources=sources) as there:
        assert (await there.send("am", alertmanager(alert(annotations={"summary": "x" * 3000}))))[0] == 413
        assert (await there.send("nobody", alertmanager()))[0] == 404
        for number in range(2):
            assert (await there.send("am", alertmanager(alert(fingerprint=str(number)))))[0] == 200
        assert (await there.send("am", alertmanager(alert(fingerprint="3"))))[0] == 503  # sent again later
        there.clock.advance(60)
        assert (await there.send("am", alertmanager(alert(fingerprint="3"))))[0] == 200


async def test_what_claims_to_begin_later_begins_now(tmp_path: Path) -> None:
    async with room(tmp_path) as there:
        await there.send("am", alertmanager(alert(startsAt="9999-12-31T23:59:59Z")))
        assert [one.starts_at for one in there.inbox.signals()] == [START]


async def test_an_alert_without_a_fingerprint_is_known_by_its_labels(tmp_path: Path) -> None:
    async with room(tmp_path) as there:
        await there.send(
            "am", alertmanager(alert(fingerprint=None), alert(fingerprint=None, annotations=None))
        )
        first, second = there.inbox.signals()
    assert first.fingerprint == second.fingerprint


async def test_it_shows_nothing_and_says_how_it_is(tmp_path: Path) -> None:
    async with room(tmp_path) as there:
        await there.send("am", alertmanager())
        found = await there.port.health()
        assert found.ok
        assert ("am", "1 deliveries") in found.facts
        for showing in (
            there.port.post(NOWHERE, Message(body=Text.of("x")), nonce="n"),
            there.port.edit(None, Message(body=Text.of("x"))),  # type: ignore[arg-type] # nothing is there
            there.port.note(NOWHERE, None, Message(body=Text.of("x"))),  # type: ignore[arg-type] # nobody is
        ):
            with pytest.raises(RejectedError):
                await showing
        assert await there.port.find(NOWHERE, nonce="n") is None
    assert not (await there.port.health()).ok


async def test_a_taken_address_is_tried_again(tmp_path: Path) -> None:
    async with room(tmp_path) as there:
        assert there.port.bound is not None
        made = settings(tmp_path, listen=f"127.0.0.1:{there.port.bound[1]}")
        port = WebhookPort(made, secrets=made.secrets(), clock=ScriptedClock())
        listening = asyncio.create_task(port.listen(Inbox()))
        while "cannot be listened on" not in (await port.health()).detail:  # noqa: ASYNC110 - it tells nobody
            await asyncio.sleep(0.01)
        await port.close()
        await listening


# ---------------------------------------------------------------- settings


def test_each_source_needs_a_secret_that_others_cannot_read(tmp_path: Path) -> None:
    assert settings(tmp_path).problems() == ()
    (tmp_path / "secret").chmod(0o644)
    assert any("chmod 600" in one for one in settings_of(tmp_path, mode=0o644).problems())
    assert "nobody may report" in Settings().problems()[0]
    both = {"am": {"format": "alertmanager", "token_file": "a", "hmac_file": "b"}}
    assert "one of both" in Settings.model_validate({"sources": both}).problems()[0]
    gone = {"am": {"format": "alertmanager", "token_file": str(tmp_path / "gone")}}
    assert "cannot be read" in Settings.model_validate({"sources": gone}).problems()[0]
    short = tmp_path / "short"
    short.write_text("abc")
    short.chmod(0o600)
    found = Settings.model_validate(
        {"sources": {"am": {"format": "grafana", "token_file": str(short)}}}
    ).problems()
    assert "16 characters" in found[0]
    assert "abc" not in found[0]
    own = {"watch": {"format": "grafana", "token_file": str(tmp_path / "secret")}}
    (tmp_path / "secret").chmod(0o600)
    assert "cannot be called watch" in Settings.model_validate({"sources": own}).problems()[0]


def settings_of(folder: Path, *, mode: int) -> Settings:
    made = settings(folder)
    (folder / "secret").chmod(mode)
    return made


@pytest.mark.parametrize(
    ("listen", "fine"),
    [
        ("127.0.0.1:1", True),
        ("[::1]:1", True),
        ("localhost:1", True),
        ("0.0.0.0:1", False),
        ("web1:1", False),
    ],
)
def test_a_secret_crosses_no_network_in_the_clear(tmp_path: Path, listen: str, *, fine: bool) -> None:
    made = settings(tmp_path, listen=listen)
    bearers = [one for one in made.problems() if "in the clear" in one]
    assert len(bearers) == (0 if fine else 2)  # the signed ones send none


@pytest.mark.parametrize("listen", ["", "9465", "127.0.0.1", "a@b:1", "http://x:1"])
def test_an_address_has_a_host_and_a_port(listen: str) -> None:
    with pytest.raises(ValueError, match="Write an address"):
        Settings(listen=listen)


def test_the_page_says_what_to_do_and_what_is_missing(tmp_path: Path) -> None:
    assert "nobody may report" in page(Settings())
    shown = page(settings(tmp_path))
    assert "Nothing that can be seen from here" in shown
    assert "webhook_configs" in shown
