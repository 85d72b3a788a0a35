"""Effects to perform, written in the transaction that causes them, settled one by one afterwards.

pending -> done | failed | uncertain. An uncertain one may have been shown: reconcile it by its nonce before
anything is sent again. The reference of a posted message stays with its row, so that a card can be edited in
place after a restart.
"""

import json
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from gate.domain import PlaceId
from ledger.chain import canonical, check_line, instant
from ledger.group import GroupWriter
from ledger.kinds import Effect, EffectKind, Json, LedgerError

_COLUMNS = "id, seq, kind, place, subject, body, nonce, state, ref, why"


class OutboxState(StrEnum):
    """What became of an effect."""

    PENDING = "pending"
    DONE = "done"
    FAILED = "failed"  # certain that it was not shown
    UNCERTAIN = "uncertain"  # may have been shown


class NoSuchEffectError(LedgerError):
    """There is no such effect in the outbox, or it was settled already. Report this as a bug."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboxItem:
    """One effect as stored.

    Attributes:
        seq: the last entry of the batch that caused it.
        subject: what it shows, such as a proposal id; "" when the effect's body named none.
        ref: the posted message's reference as JSON; "" before it is posted.
    """

    id: int
    seq: int
    kind: EffectKind
    place: PlaceId
    subject: str
    body: dict[str, Json]
    nonce: str
    state: OutboxState
    ref: str
    why: str


@dataclass(frozen=True, slots=True)
class Packed:
    """An effect ready to be written."""

    kind: str
    place: str
    subject: str
    body: str
    nonce: str


def pack(effect: Effect) -> Packed:
    """Make an effect ready; "subject" in its body becomes findable by `Outbox.posted`.

    A body that is "fleeting" is forgotten once the effect is settled, however that went.

    Raises:
        DraftError: its body is no JSON.
    """
    subject = effect.body.get("subject")
    return Packed(
        effect.kind.value,
        effect.place,
        check_line("subject", subject) if isinstance(subject, str) else "",
        canonical(dict(effect.body)),
        effect.nonce,
    )


def write(connection: sqlite3.Connection, packed: Packed, *, seq: int, at: str) -> int:
    """Write an effect inside the caller's transaction; return its id."""
    row = connection.execute(
        "INSERT INTO outbox (seq, kind, place, subject, body, nonce, state, ref, why, at)"
        " VALUES (?, ?, ?, ?, ?, ?, 'pending', '', '', ?)",
        (seq, packed.kind, packed.place, packed.subject, packed.body, packed.nonce, at),
    ).lastrowid
    return int(row or 0)


class Outbox:
    """The outbox of one ledger; `reader` returns a connection that this thread may read with."""

    def __init__(
        self,
        writer: GroupWriter,
        *,
        reader: Callable[[], sqlite3.Connection],
        clock: Callable[[], datetime],
    ) -> None:
        self._writer = writer
        self._reader = reader
        self._clock = clock

    def pending(self) -> list[OutboxItem]:
        """Return what is still to be performed, oldest first."""
        return self._select("state = 'pending'", ())

    def unsure(self) -> list[OutboxItem]:
        """Return what may or may not have been shown, oldest first."""
        return self._select("state = 'uncertain'", ())

    def seen(self, place: PlaceId, *, by: int = 0, channel: str = "") -> int:
        """Return the newest entry up to which everything that is said in `place` has been shown there.

        Args:
            by: the platform's own order of a message there (`Inbound.position`): what was posted after it was
                not seen by who wrote it, whenever it reached us (D2); 0 where the platform has no order.
            channel: the channel that the order is of: a place that moved begins a new one, and all that was
                posted before that was seen. "" where no place moves.
        """
        row = self._reader().execute(
            "SELECT coalesce((SELECT min(seq) - 1 FROM outbox WHERE place = ?"
            " AND kind NOT IN ('refresh', 'close')"
            " AND (state = 'pending' OR (? > 0 AND state = 'done' AND ref != ''"
            " AND (? = '' OR json_extract(ref, '$[2]') = ?)"
            " AND coalesce(json_extract(ref, '$[5]'), 0) > ?))),"
            " (SELECT max(seq) FROM entry), 0)",
            (place, by, channel, channel, by),
        )
        return int(row.fetchone()[0])

    def posted(self, subject: str) -> list[OutboxItem]:
        """Return every card shown of `subject` whose reference is known, oldest first."""
        known = "subject = ? AND subject != '' AND kind = 'card' AND state = 'done' AND ref != ''"
        return self._select(known, (subject,))

    def asked(self, place: PlaceId, choice: str) -> OutboxItem | None:
        """Return the message that asked `choice` in `place`, where its reference is known."""
        found = self._select(
            "place = ? AND kind = 'say' AND state = 'done' AND ref != ''"
            " AND json_extract(body, '$.choice') = ?",
            (place, choice),
        )
        return found[-1] if found else None

    def done(self, effect: int, message_ref_json: str = "") -> None:
        """Record that an effect was performed, and the posted message's reference where there is one."""
        self._settle(effect, OutboxState.DONE, ref=message_ref_json)

    def failed(self, effect: int, why: str) -> None:
        """Record that an effect was certainly not performed."""
        self._settle(effect, OutboxState.FAILED, why=why)

    def uncertain(self, effect: int, why: str = "") -> None:
        """Record that an effect may have been performed."""
        self._settle(effect, OutboxState.UNCERTAIN, why=why)

    def _settle(self, effect: int, state: OutboxState, *, ref: str = "", why: str = "") -> None:
        stamp = instant(self._clock())

        def work(connection: sqlite3.Connection) -> None:
            settled = connection.execute(
                "UPDATE outbox SET state = ?, ref = ?, why = ?, settled_at = ?,"
                " body = iif(json_extract(body, '$.fleeting'), '{}', body)"
                " WHERE id = ? AND state IN ('pending', 'uncertain')",
                (state.value, ref, why, stamp, effect),
            ).rowcount
            if not settled:
                raise NoSuchEffectError(f"{NoSuchEffectError.__doc__} Its number: {effect}.")

        self._writer.submit(work)

    def _select(self, condition: str, values: tuple[str, ...]) -> list[OutboxItem]:
        query = f"SELECT {_COLUMNS} FROM outbox WHERE {condition} ORDER BY id"  # noqa: S608  constants only
        return [_item(row) for row in self._reader().execute(query, values)]


def _item(row: tuple[int, int, str, str, str, str, str, str, str, str]) -> OutboxItem:
    number, seq, kind, place, subject, body, nonce, state, ref, why = row
    return OutboxItem(
        id=number,
        seq=seq,
        kind=EffectKind(kind),
        place=PlaceId(place),
        subject=subject,
        body=json.loads(body),
        nonce=nonce,
        state=OutboxState(state),
        ref=ref,
        why=why,
    )
