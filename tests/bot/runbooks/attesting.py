"""Attestations to look at: the report of a run that is on record, as JSON values that a test may change."""

import json
from typing import Any

from bot.runbooks import attest, report
from bot.runbooks.attest import verify
from ledger.chain import entry_hash
from ledger.note import Signer, Verifier
from tests.bot.runbooks.made import RUN, SECRET
from tests.ledger.story import Story

ANA, EVE = Signer("ana", b"\x01" * 32), Signer("eve", b"\x02" * 32)
Whole = dict[str, Any]


def made(story: Story, signer: Signer | None = ANA) -> Whole:
    told = report.tell(story.queries, RUN, secrets=(SECRET,))
    assert told is not None
    whole: Whole = json.loads(attest.attested(told, story.queries.run_entries(RUN), signer=signer))
    return whole


def problems(whole: Whole, *keys: Verifier) -> list[str]:
    return list(verify(json.dumps(whole), keys=keys).problems)


def rehash(entry: Whole) -> None:
    fields = ("prev_hash", "seq", "kind", "at", "correlation_id", "body")
    entry["hash"] = entry_hash(**{name: entry[name] for name in fields})


def made_anew(whole: Whole) -> Whole:
    """Return what was changed with every hash made anew, as whoever holds the file can, with no key."""
    for entry in whole["entries"]:
        rehash(entry)
    rows = [f"{one['seq']} {one['kind']} {one['hash']}" for one in whole["entries"]]
    whole["statement"] = attest._statement(whole["report"], rows)
    return whole
