"""The reports in docs/examples are of the runbooks as they are, and of runs that came to a good end."""

from pathlib import Path

import pytest

from bot.loading.library import put_together, read_built_in

FOLDER = Path(__file__).parents[2] / "docs" / "examples"
DOCUMENTS = put_together(read_built_in())[0].documents
PAGES = {page.stem: page for page in FOLDER.glob("*.md") if page.stem != "README"}
#: Of these there has to be one; `tests.library.service_examples` writes them.
SERVICES = (
    "backup-folder",
    "destroy-lxc",
    "docker-compose-deploy",
    "free-vmid",
    "nginx-config-change",
    "postgres-backup-check",
    "postgres-lag",
    "postgres-locks",
    "provision-lxc",
    "restore-test",
)


@pytest.mark.parametrize("name", sorted({*SERVICES, *PAGES}))
def test_the_report_is_of_the_runbook_as_it_is(name: str) -> None:
    assert name in PAGES, "run .venv/bin/python -m tests.library.service_examples docs/examples"
    told = PAGES[name].read_text(encoding="utf-8")
    assert f"digest `{DOCUMENTS[name].revision[:12]}`" in told, "write docs/examples anew"


@pytest.mark.parametrize("name", SERVICES)
def test_it_tells_of_a_run_that_came_to_a_good_end(name: str) -> None:
    told = PAGES[name].read_text(encoding="utf-8")
    assert "**completed at end:success" in told
    assert "/tmp/" not in told
