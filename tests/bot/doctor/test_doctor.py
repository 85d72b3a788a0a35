"""doctor tells faults apart: a real sshd, a real ledger, a real lock, one fault at a time."""

import dataclasses
import secrets
import socket
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.doctor import Finding, Status, examine
from bot.doctor.examine import Probes
from bot.doctor.findings import Access
from bot.doctor.probes import access, free, probes_here
from bot.ports import Health
from bot.settings.config import Config, load
from bot.settings.paths import Paths
from ledger.engine import WriterLock
from ledger.keys import key_file
from ledger.kinds import Batch, Draft, Kind
from ledger.projections import holds, project
from ledger.store import Ledger
from tests.sshd import Server, free_port, make_key, running


class Clock:
    def __init__(self, ahead_s: float = 0.0) -> None:
        self._ahead = timedelta(seconds=ahead_s)

    def now(self) -> datetime:
        return datetime.now(UTC) + self._ahead


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running(tmp_path_factory.mktemp("sshd")) as server:
        yield server


class Patient:
    """A machine to examine: `config` is its file, `ssh` what its SSH config says."""

    def __init__(self, folder: Path, box: Server) -> None:
        self.folder = folder
        self.file = folder / "config.toml"
        self.paths = Paths(folder / "state")
        self.paths.state.mkdir(mode=0o700)
        self.text = "[targets.box]\n"
        self.ssh = box.config.read_text()
        self.clock = Clock()

    def load(self) -> Config:
        return load(file=self.file, environ={}, flags=[], login="ana", paths=self.paths)

    def probes(self) -> Probes:
        (self.folder / "ssh_config").write_text(self.ssh)
        self.file.write_text(f"[bot]\nssh_config = '{self.folder / 'ssh_config'}'\n{self.text}")
        self.file.chmod(0o600)
        return probes_here(load=self.load, config=self.file, state=self.paths.state, clock=self.clock)

    async def examined(self, **replaced: object) -> list[Finding]:
        probes = dataclasses.replace(self.probes(), **replaced)
        return [finding async for finding in examine(probes)]

    async def faults(self, **replaced: object) -> list[tuple[str, str]]:
        return [(f.name, f.code) for f in await self.examined(**replaced) if f.status is not Status.OK]

    def write_ledger(self, entries: int = 3) -> Path:
        ledger = Ledger.open(
            self.paths.ledger,
            project=project,
            holds=holds,
            random_bytes=secrets.token_bytes,
            clock=lambda: datetime.now(UTC),
        )
        for number in range(entries):
            draft = Draft(kind=Kind.BOT_STARTED, body={"number": number})
            ledger.append(Batch(at=datetime.now(UTC), drafts=(draft,)))
        ledger.close()
        return self.paths.ledger


@pytest.fixture
def patient(tmp_path: Path, box: Server) -> Patient:
    return Patient(tmp_path, box)


async def test_a_healthy_machine_has_no_faults(patient: Patient) -> None:
    patient.write_ledger()
    found = await patient.examined()
    assert [f for f in found if f.status is not Status.OK] == []
    assert {f.name for f in found} == {
        "python", "config", "config access", "state folder", "signing key", "disk", "instance", "ledger",
        "clock", "target box",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("health", "code"),
    [
        (None, "metrics_not_running"),
        (Health(ok=False, detail="127.0.0.1:9464 cannot be listened on: in use"), "metrics_down"),
    ],
)
async def test_metrics_that_cannot_be_read_are_a_warning(
    patient: Patient, health: Health | None, code: str
) -> None:
    patient.text += "[metrics]\nlisten = '127.0.0.1:9464'\n"
    live = {} if health is None else {"metrics": health}
    found = await patient.examined(
        writer=lambda _path: 1, answers=lambda _path: True, health=lambda _path: live
    )
    (told,) = [one for one in found if one.name == "metrics"]
    assert (told.status, told.code) == (Status.WARN, code)


async def test_metrics_of_others_are_a_config_error(patient: Patient) -> None:
    patient.text += "[metrics]\nlisten = '0.0.0.0:9464'\n"
    assert await patient.faults() == [("config", "config_error")]


async def test_a_config_error(patient: Patient) -> None:
    patient.text = "[targets.box]\nadress = 'x'\n[policy]\nposture = 'yolo'\n"
    assert await patient.faults() == [("config", "config_error"), ("config", "config_error")]


async def test_tables_that_do_not_fit_together_are_a_config_error(patient: Patient) -> None:
    patient.text = "[targets.box]\nkind = 'pct'\ncontainer = '1'\nvia = 'nowhere'\n"
    assert ("config", "config_error") in await patient.faults()


async def test_the_rest_is_examined_although_the_config_is_broken(patient: Patient) -> None:
    patient.text = "[nope]\n"
    names = {finding.name for finding in await patient.examined()}
    assert {"disk", "ledger", "instance"} <= names


async def test_an_unreachable_target(patient: Patient) -> None:
    patient.ssh = _with(patient.ssh, "Port", free_port())
    assert await patient.faults() == [("target box", "refused")]


async def test_an_unknown_host_key(patient: Patient) -> None:
    (patient.folder / "known_hosts").touch()
    patient.ssh = _with(patient.ssh, "UserKnownHostsFile", patient.folder / "known_hosts")
    assert await patient.faults() == [("target box", "host_key_unknown")]


async def test_a_changed_host_key(patient: Patient, box: Server) -> None:
    make_key(patient.folder / "other")
    other = (patient.folder / "other.pub").read_text().split()
    (patient.folder / "known_hosts").write_text(f"[127.0.0.1]:{box.port} {other[0]} {other[1]}\n")
    patient.ssh = _with(patient.ssh, "UserKnownHostsFile", patient.folder / "known_hosts")
    assert await patient.faults() == [("target box", "host_key_changed")]


async def test_a_wrong_key(patient: Patient) -> None:
    make_key(patient.folder / "stranger")
    patient.ssh = _with(patient.ssh, "IdentityFile", patient.folder / "stranger")
    assert await patient.faults() == [("target box", "auth")]


async def test_a_skewed_clock(patient: Patient) -> None:
    patient.clock = Clock(ahead_s=-300)
    assert await patient.faults() == [("target box", "clock_skew")]


async def test_an_own_clock_that_went_back(patient: Patient) -> None:
    patient.write_ledger()
    patient.clock = Clock(ahead_s=-300)
    assert ("clock", "clock_went_back") in await patient.faults()


async def test_a_disk_that_is_almost_full(patient: Patient) -> None:
    assert await patient.faults(free=lambda _: (2**29, 2**36)) == [("disk", "disk_almost_full")]


async def test_a_broken_ledger_names_the_entry(patient: Patient) -> None:
    file = patient.write_ledger()
    with closing(sqlite3.connect(file)) as connection:
        triggers = [
            row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
        ]
        for name in triggers:
            connection.execute(f'DROP TRIGGER "{name}"')
        connection.execute("UPDATE entry SET body = replace(body, '1', '7') WHERE seq = 2")
        connection.commit()
    found = await patient.examined()
    (broken,) = [finding for finding in found if finding.status is not Status.OK]
    assert (broken.name, broken.code) == ("ledger", "ledger_broken")
    assert "2" in broken.what


async def test_a_file_that_is_no_ledger_is_broken(patient: Patient) -> None:
    patient.paths.ledger.write_bytes(b"not a database, but long enough to be one " * 100)
    assert await patient.faults() == [("ledger", "ledger_broken")]


async def test_a_second_instance(patient: Patient) -> None:
    lock = WriterLock(patient.paths.ledger)
    lock.acquire()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(patient.paths.socket))
        listening.listen()
        assert await patient.faults() == [("instance", "second_instance")]
    assert await patient.faults() == [("instance", "instance_without_socket")]
    lock.release()
    assert await patient.faults() == []


async def test_files_open_to_others(patient: Patient) -> None:
    patient.write_ledger()
    key_file(patient.paths.ledger).chmod(0o644)
    patient.paths.state.chmod(0o755)
    assert await patient.faults() == [
        ("state folder", "state_open_to_others"),
        ("signing key", "key_open_to_others"),
    ]


@pytest.mark.parametrize(
    ("mode", "code"), [(0o600, "ok"), (0o640, "password_open_to_others"), (None, "password_missing")]
)
async def test_who_can_read_the_password_of_sudo(patient: Patient, mode: int | None, code: str) -> None:
    file = patient.folder / "box.sudo"
    if mode is not None:
        file.write_text("open sesame")
        file.chmod(mode)
    patient.text = f"[targets.box]\nbecome = true\nbecome_password_file = '{file}'\n"
    found = [one async for one in examine(patient.probes()) if one.name == "password of box"]
    assert [one.code for one in found] == [code]
    assert "open sesame" not in repr(found)


async def test_what_cannot_be_looked_at_is_a_fault_and_no_crash(patient: Patient) -> None:
    def locked(_path: Path) -> tuple[int, int]:
        raise PermissionError(13, "Permission denied")

    assert await patient.faults(free=locked) == [("disk", "not_readable")]


def test_access_to_what_is_not_there(tmp_path: Path) -> None:
    assert access(tmp_path / "none") == Access(exists=False)


def test_room_is_that_of_the_nearest_folder_that_exists(tmp_path: Path) -> None:
    assert free(tmp_path / "a" / "b")[1] == free(tmp_path)[1]


def _with(config: str, option: str, value: object) -> str:
    lines = [f"  {option} {value}" if line.split()[:1] == [option] else line for line in config.splitlines()]
    return "\n".join(lines) + "\n"
