"""Health: written by the running process, believed for half a minute, gone when it stops."""

import asyncio
import json
import threading
from datetime import timedelta
from pathlib import Path

import pytest

from bot import health
from bot.ports import Health
from tests.kit import ScriptedClock, ScriptedPort


class SickPort(ScriptedPort):
    """A surface whose health is as told: a value, an error, or no answer at all."""

    def __init__(self, name: str, answer: Health | Exception | None) -> None:
        super().__init__(name)
        self.answer = answer

    async def health(self) -> Health:
        if self.answer is None:
            await asyncio.Event().wait()
        if isinstance(self.answer, Exception):
            raise self.answer
        assert self.answer is not None
        return self.answer


def names(folder: Path) -> list[str]:
    return [file.name for file in folder.iterdir()]


FINE = Health(ok=True, detail="since 14:00", facts=(("bot", "@sayso"), ("scopes", "chat:write")))


async def test_what_was_written_is_read(tmp_path: Path) -> None:
    file, clock = tmp_path / "health.json", ScriptedClock()
    await health.write(
        file, [SickPort("one", FINE), SickPort("two", Health(ok=False, detail="no token"))], clock
    )
    assert health.read(file, now=clock.now()) == {"one": FINE, "two": Health(ok=False, detail="no token")}
    assert not file.with_suffix(".new").exists()


async def test_what_is_old_is_not_believed(tmp_path: Path) -> None:
    """A process that was killed leaves its file behind."""
    file, clock = tmp_path / "health.json", ScriptedClock()
    await health.write(file, [SickPort("one", FINE)], clock)
    limit = timedelta(seconds=health.BELIEVED_S)
    assert health.read(file, now=clock.now() + limit) == {"one": FINE}
    assert health.read(file, now=clock.now() + limit + timedelta(seconds=1)) == {}
    assert health.read(file, now=clock.now() - limit - timedelta(seconds=1)) == {}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "null",
        '{"at": "yesterday", "adapters": {}}',
        '{"adapters": {}}',
        '{"at": "2026-03-02T14:00:00", "adapters": {}}',
        '{"at": "2026-03-02T14:00:00+00:00", "adapters": {"one": null}}',
        '{"at": "2026-03-02T14:00:00+00:00", "adapters": {"one": {"ok": true}}}',
        '{"at": "2026-03-02T14:00:00+00:00", "adapters": []}',
    ],
)
def test_what_cannot_be_read_is_nothing(tmp_path: Path, text: str) -> None:
    file = tmp_path / "health.json"
    file.write_text(text, encoding="utf-8")
    assert health.read(file, now=ScriptedClock().now()) == {}


def test_no_file_is_nothing(tmp_path: Path) -> None:
    assert health.read(tmp_path / "none.json", now=ScriptedClock().now()) == {}


async def test_a_surface_that_breaks_or_hangs_is_not_ok_and_hides_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "_PATIENCE_S", 0.01)
    file, clock = tmp_path / "health.json", ScriptedClock()
    ports = [SickPort("one", FINE), SickPort("two", KeyError("secret")), SickPort("three", None)]
    await health.write(file, ports, clock)
    found = health.read(file, now=clock.now())
    assert found["one"] == FINE
    assert (found["two"].ok, found["three"].ok) == (False, False)
    assert found["two"].detail == "it cannot tell: KeyError. Look at the log."
    assert "does not answer" in found["three"].detail
    assert "secret" not in file.read_text("utf-8")


async def test_a_disk_that_takes_nothing_stops_nothing(tmp_path: Path) -> None:
    await health.write(tmp_path / "none" / "health.json", [SickPort("one", FINE)], ScriptedClock())


async def test_it_is_written_until_the_process_stops(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "EVERY_S", 0.001)
    file, clock, port = tmp_path / "health.json", ScriptedClock(), SickPort("one", FINE)
    keeping = asyncio.create_task(health.keep(file, [port], clock))

    async def wait_for(*, ok: bool) -> None:
        async with asyncio.timeout(60):
            while (one := health.read(file, now=clock.now()).get("one")) is None or one.ok is not ok:  # noqa: ASYNC110 - a file
                await asyncio.sleep(0.001)

    await wait_for(ok=True)
    port.answer = Health(ok=False)
    await wait_for(ok=False)
    assert json.loads(file.read_text("utf-8"))["at"] == clock.now().isoformat()
    keeping.cancel()
    await asyncio.gather(keeping, return_exceptions=True)
    assert not file.exists()


@pytest.mark.parametrize("step", ["write_text", "replace"])
async def test_what_was_being_written_when_the_process_stops_is_gone_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """A thread that writes cannot be called back."""
    under_way, let, plain = threading.Event(), threading.Event(), getattr(Path, step)

    def late(path: Path, *values: object, **more: object) -> object:
        under_way.set()
        assert let.wait(60)
        return plain(path, *values, **more)

    monkeypatch.setattr(Path, step, late)
    keeping = asyncio.create_task(
        health.keep(tmp_path / "health.json", [SickPort("one", FINE)], ScriptedClock())
    )
    assert await asyncio.to_thread(under_way.wait, 60)
    keeping.cancel()
    await asyncio.sleep(0.05)  # whoever does not wait for it, takes away now what is not there yet
    let.set()
    await asyncio.gather(keeping, return_exceptions=True)
    assert keeping.cancelled()
    assert names(tmp_path) == []


async def test_while_a_surface_is_not_well_news_of_it_come_sooner(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Just started, a surface is not connected yet; `sayso doctor` must not say so for ten seconds."""
    monkeypatch.setattr(health, "UNWELL_EVERY_S", 0.001)
    monkeypatch.setattr(health, "EVERY_S", 3600.0)
    file, clock = tmp_path / "health.json", ScriptedClock()
    port = SickPort("one", Health(ok=False, detail="connecting"))
    keeping = asyncio.create_task(health.keep(file, [port], clock))
    async with asyncio.timeout(60):
        while not health.read(file, now=clock.now()):  # noqa: ASYNC110 - another thread writes the file
            await asyncio.sleep(0.001)
        port.answer = FINE
        while health.read(file, now=clock.now()) != {"one": FINE}:  # noqa: ASYNC110 - as above
            await asyncio.sleep(0.001)
    keeping.cancel()
    await asyncio.gather(keeping, return_exceptions=True)
    assert not file.exists()
