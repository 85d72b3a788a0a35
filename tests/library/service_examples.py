"""Writes docs/examples: each runbook of containers and services, run by sayso, and the report of that run.

    python -m tests.library.service_examples docs/examples

It takes PostgreSQL and nginx, which are real; the Proxmox VE node and docker are simulated. A person on a
port that only remembers agrees to every question. Scratch folders are called /srv/example in the reports.
"""

import asyncio
import contextlib
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path

from bot.runbooks.report import as_markdown, tell
from tests.kit import conversation
from tests.library.postgres import Cluster, cluster
from tests.library.tale import OnScript, Tale, programs_in, this_machine
from tests.library.test_backups import filled
from tests.library.test_compose import deployed
from tests.library.test_nginx import serving
from tests.library.test_postgres import blocking, wait_until
from tests.simulators.proxmox.host import proxmox

SYSTEM = "/usr/sbin:/usr/bin:/sbin:/bin"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """What somebody asks for, one after the other, and where commands find their programs.

    `hides` are texts that only this machine has, and what a report says instead.
    """

    asks: tuple[str, ...]
    path: str = SYSTEM
    hides: Mapping[str, str] = field(default_factory=dict)


def asked(runbook: str, **values: object) -> str:
    """Return the words that ask for a runbook by name."""
    told = ", ".join(f"{name}={value}" for name, value in values.items())
    return f"run runbook {runbook} on box1 with {told}"


@contextlib.contextmanager
def _containers(folder: Path) -> Iterator[Scene]:
    with proxmox(folder) as host:
        port = host.state["http_port"]
        yield Scene(
            asks=(
                "free vmid on box1",
                f"provision a container with nginx on box1 with hostname=web7, port={port}",
                "destroy container 100 on box1",
            ),
            path=host.path,
            hides={str(port): "8080"},
        )


@contextlib.contextmanager
def _postgres(folder: Path) -> Iterator[Scene]:
    dumps = folder / "dumps"
    dumps.mkdir(parents=True)
    with cluster() as primary, cluster(replica_of=primary) as replica:
        primary.psql("CREATE TABLE account (id int PRIMARY KEY, balance int)")
        primary.psql("INSERT INTO account VALUES (1, 5)")
        primary.dump("postgres", dumps / "postgres-1.dump")
        wait_until(primary, "SELECT count(*) = 1 FROM pg_stat_replication WHERE replay_lsn IS NOT NULL")
        with blocking(primary):
            yield Scene(
                asks=(
                    asked("postgres-lag", replicas=1, **primary.inputs),
                    asked("postgres-locks", **primary.inputs),
                    asked("postgres-backup-check", folder=dumps),
                ),
                path=primary.path,
                hides=_sockets(primary, replica),
            )


def _sockets(*clusters: Cluster) -> dict[str, str]:
    return {str(one.folder): "/var/run/postgresql" for one in clusters}


@contextlib.contextmanager
def _nginx(folder: Path) -> Iterator[Scene]:
    folder.mkdir()
    with serving(folder) as web:
        new = web.write("new.conf", '200 "new"')
        yield Scene(
            asks=(
                asked(
                    "nginx-config-change",
                    new=new,
                    file=web.site,
                    main=folder / "nginx.conf",
                    check=f"http://127.0.0.1:{web.port}/",
                ),
            ),
            hides={str(web.port): "8080"},
        )


@contextlib.contextmanager
def _compose(folder: Path) -> Iterator[Scene]:
    folder.mkdir()
    with deployed(folder) as app:
        check = f"http://127.0.0.1:{app.port}/"
        yield Scene(
            asks=(asked("docker-compose-deploy", folder=app.project, tag="1.1", check=check),),
            path=f"{folder / 'bin'}:/usr/bin:/bin",
            hides={str(app.port): "8080"},
        )


@contextlib.contextmanager
def _backups(folder: Path) -> Iterator[Scene]:
    made = filled(folder)
    source, archives = made / "data", made / "archives"
    yield Scene(
        asks=(
            asked("backup-folder", source=source, folder=archives, name="data"),
            asked("restore-test", archives=archives, name="data", source=source, scratch=made / "scratch"),
        )
    )


SCENES: tuple[Callable[[Path], AbstractContextManager[Scene]], ...] = (
    _containers,
    _postgres,
    _nginx,
    _compose,
    _backups,
)


async def play(scene: Scene, state: Path, *, hides: Mapping[str, str]) -> dict[str, str]:
    """Run what a scene asks for; return the reports by the id of their runbook.

    Raises:
        RuntimeError: a run came to another end than a good one.
    """
    reports = {}
    with programs_in(scene.path):
        async with conversation(state, inventory=this_machine("box1")) as kit:
            tale = Tale(player=OnScript(kit=kit))
            for request in scene.asks:
                await tale.say(request)
                await tale.agree_until("")
                told = tell(kit.core.queries, tale.run.id, secrets=())
                if told is None or tale.run.outcome != "completed":
                    raise RuntimeError(f"{request}: {tale.run.outcome} after {tale.steps()}")
                text = as_markdown(told)
                for found, instead in {**scene.hides, **hides}.items():
                    text = text.replace(found, instead)
                reports[str(tale.run.runbook)] = text
    return reports


def main(out: Path) -> None:
    """Write the report of every scene's runs into `out`."""
    out.mkdir(parents=True, exist_ok=True)
    for opened in SCENES:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            with opened(folder / "scene") as scene:
                hides = {str(folder / "scene"): "/srv/example"}
                for runbook, text in asyncio.run(play(scene, folder / "state", hides=hides)).items():
                    (out / f"{runbook}.md").write_text(text, encoding="utf-8")
                    print(runbook)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
