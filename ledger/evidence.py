"""The entries that tell of one run, whole as they are stored: what a report of it is attested with (R23).

Those are the run's own, and those of the proposals that its steps made: who was asked, who agreed, what
started and how it ended. It reads only; what an attestation says and proves is the business of its maker.
"""

import json

from ledger.kinds import Entry
from ledger.reader import Reader


class EvidenceReader(Reader):
    """Questions about the entries behind a run."""

    def run_entries(self, run: str) -> tuple[Entry, ...]:
        """Return every entry of `run` and of its proposals, in order; () where there is no such run."""
        started = self._row("SELECT started_seq FROM run WHERE id=?", run)
        if started is None:
            return ()
        proposals = [
            row["proposal"]
            for row in self._rows(
                "SELECT DISTINCT json_extract(e.body, '$.proposal') AS proposal"
                " FROM run_event n JOIN entry e ON e.seq=n.seq"
                " WHERE n.run=? AND json_extract(e.body, '$.proposal') <> ''",
                run,
            )
        ]
        # Nothing of a run is older than its start, so that no entry before it is looked at.
        rows = self._rows(
            "SELECT seq, kind, at, correlation_id, body, prev_hash, hash FROM entry"
            " WHERE seq >= ? AND correlation_id IN (SELECT value FROM json_each(?)) ORDER BY seq",
            *(started["started_seq"], json.dumps([run, *proposals])),
        )
        return tuple(Entry(*row) for row in rows)
