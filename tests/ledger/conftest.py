"""What the tests of the ledger begin with: a story to tell, and a ledger to attack."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.ledger.story import Story
from tests.ledger.support import batch, draft, ledger_in
from tests.ledger.victim import SIZE, Victim


@pytest.fixture
def tale(tmp_path: Path) -> Iterator[Story]:
    begun = Story.begin(tmp_path)
    yield begun
    begun.ledger.close()


@pytest.fixture
def victim(tmp_path: Path) -> Victim:
    kept = ""
    with ledger_in(tmp_path, checkpoint_every=4) as ledger:
        for number in range(SIZE):
            ledger.append(batch(draft(f"p{number + 1}", words=b"go ahead %d" % number)))
            if number == 7:
                kept = ledger.checkpoint()
    return Victim(tmp_path, ledger.verifier, kept)
