"""Places as the ledger knows them: which ids lead there, who spoke last, and what stands on the screen."""

import json
import sqlite3

from gate.domain import PersonId, PlaceId, ProposalId, TurnId
from ledger.codec import Doc, mapping
from ledger.kinds import Entry, Json
from ledger.reader import Reader


def moved(connection: sqlite3.Connection, _entry: Entry, body: Doc) -> None:
    """Let every conversation of a channel go on under its new ids (D3)."""
    old, new = mapping(body["place_ref"]), mapping(body["moved_to"])
    connection.execute(
        "UPDATE place SET tenant=?, channel=? WHERE platform=? AND tenant=? AND channel=?",
        (new["tenant"], new["channel"], old["platform"], old["tenant"], old["channel"]),
    )


class PlaceReader(Reader):
    """Questions about places."""

    def last_turn(self, place: PlaceId) -> tuple[TurnId, PersonId] | None:
        """Return the newest turn of a place and who it was with; None when nothing was ever said there."""
        row = self._row("SELECT last_turn, last_person FROM place WHERE id=?", place)
        return None if row is None else (TurnId(row["last_turn"]), PersonId(row["last_person"]))

    def place(self, place: PlaceId) -> tuple[str, str, str, str] | None:
        """Return (platform, tenant, channel, thread) of a place."""
        row = self._row("SELECT * FROM place WHERE id=?", place)
        return None if row is None else (row["platform"], row["tenant"], row["channel"], row["thread"])

    def place_at(self, platform: str, tenant: str, channel: str, thread: str) -> PlaceId | None:
        """Return the place that goes on under these ids, the oldest such; None for a new one."""
        row = self._row(
            "SELECT id FROM place WHERE platform=? AND tenant=? AND channel=? AND thread=?"
            " ORDER BY rowid LIMIT 1",
            *(platform, tenant, channel, thread),
        )
        return None if row is None else PlaceId(row["id"])

    def places_at(self, platform: str, tenant: str, channel: str) -> tuple[PlaceId, ...]:
        """Return every conversation of a channel."""
        rows = self._rows(
            "SELECT id FROM place WHERE platform=? AND tenant=? AND channel=?", platform, tenant, channel
        )
        return tuple(PlaceId(row["id"]) for row in rows)

    def places_on(self, platform: str) -> dict[PlaceId, tuple[str, str, str, str]]:
        """Return every place of a platform that was ever spoken in, each as in `place`."""
        rows = self._rows(
            "SELECT id, platform, tenant, channel, thread FROM place WHERE platform=? ORDER BY rowid",
            platform,
        )
        return {
            PlaceId(row["id"]): (row["platform"], row["tenant"], row["channel"], row["thread"])
            for row in rows
        }

    def place_of(self, person: PersonId, *, like: PlaceId) -> PlaceId | None:
        """Return where `person` was heard last with nobody else there, on the platform of the place `like`.

        None where nowhere: what is shown to one person is shown in no place that others read.
        """
        query = (
            "SELECT p.id FROM place p JOIN place q ON q.platform = p.platform"
            " JOIN entry e ON e.seq = p.last_seq"
            " WHERE q.id=? AND p.last_person=? AND json_extract(e.body, '$.direct')"
            " ORDER BY p.last_seq DESC LIMIT 1"
        )
        row = self._row(query, like, person)
        return None if row is None else PlaceId(row["id"])

    def subject_of(self, message: str, place: PlaceId, *, channel: str = "") -> ProposalId | None:
        """Return the proposal that the message `message` in `place` is about; None for other messages.

        Args:
            channel: the channel that `message` is an id of: a place that moved numbers its messages anew.
                "" where no place moves.
        """
        row = self._posted(message, place, channel)
        return None if row is None else ProposalId(row["subject"])

    def form_of(self, message: str, place: PlaceId, *, channel: str = "") -> str | None:
        """Return the token of the form that a reply to `message` fills in; None for other messages.

        Args:
            channel: as in `subject_of`.
        """
        row = self._posted(message, place, channel)
        form = None if row is None else json.loads(row["body"]).get("form")
        return form if isinstance(form, str) and form else None

    def said(self, message: str, place: PlaceId, *, channel: str = "") -> int | None:
        """Return the number of what was said as the message `message` in `place`; None for other messages.

        Args:
            channel: as in `subject_of`.
        """
        row = self._row(
            "SELECT id FROM outbox WHERE place=? AND kind='say' AND ref<>''"
            " AND json_extract(ref, '$[4]')=? AND (?='' OR json_extract(ref, '$[2]')=?)"
            " ORDER BY id DESC LIMIT 1",
            *(place, message, channel, channel),
        )
        return None if row is None else int(row["id"])

    def said_as(self, number: int, place: PlaceId) -> Json:
        """Return what was said in `place` under that number, as spans; None where nothing, or forgotten."""
        row = self._row("SELECT body FROM outbox WHERE id=? AND place=? AND kind='say'", number, place)
        return None if row is None else json.loads(row["body"]).get("text")

    def was_shown(self, proposal: ProposalId, place: PlaceId) -> bool:
        """Whether the newest card of `proposal` in `place` is certain to be there, or there never was one."""
        row = self._row(
            "SELECT state FROM outbox WHERE subject=? AND subject!='' AND place=? AND kind='card'"
            " ORDER BY id DESC LIMIT 1",
            *(proposal, place),
        )
        return row is None or row["state"] == "done"

    def cards_shown(self, proposal: ProposalId, *, by: int) -> dict[PlaceId, bool]:
        """Return where cards of `proposal` were sent; True where one of entry `by` or older is there."""
        rows = self._rows(
            "SELECT place, max(state='done' AND seq<=?) AS shown FROM outbox"
            " WHERE subject=? AND subject!='' AND kind='card' GROUP BY place",
            *(by, proposal),
        )
        return {PlaceId(row["place"]): bool(row["shown"]) for row in rows}

    def _posted(self, message: str, place: PlaceId, channel: str) -> sqlite3.Row | None:
        return self._row(
            "SELECT subject, body FROM outbox WHERE place=? AND subject<>'' AND ref<>''"
            " AND json_extract(ref, '$[4]')=? AND (?='' OR json_extract(ref, '$[2]')=?)"
            " ORDER BY id DESC LIMIT 1",
            *(place, message, channel, channel),
        )
