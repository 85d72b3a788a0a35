"""What turns do to the present state: who spoke where, and whose next words count (D2).

Handlers of entries, as in `ledger.projections`.
"""

import sqlite3

from ledger.codec import Doc, items, mapping
from ledger.kinds import Entry


def received(connection: sqlite3.Connection, entry: Entry, body: Doc) -> None:
    """Keep who spoke last in a place, where a person was heard last with nobody else there; close windows."""
    place = mapping(body["place_ref"])
    connection.execute(
        "INSERT INTO place (id, platform, tenant, channel, thread, last_turn, last_person, last_seq)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE"
        " SET last_turn=excluded.last_turn, last_person=excluded.last_person, last_seq=excluded.last_seq",
        (
            body["place"],
            *(place[part] for part in ("platform", "tenant", "channel", "thread")),
            *(body["turn"], body["person"], entry.seq),
        ),
    )
    if body["person"] and body.get("direct"):
        connection.execute(
            "INSERT OR REPLACE INTO heard (person, platform, place, seq) VALUES (?, ?, ?, ?)",
            (body["person"], place["platform"], body["place"], entry.seq),
        )
    if body["consumes_window"] == "everybody's":
        connection.execute("DELETE FROM window WHERE place=?", (body["place"],))
    elif body["consumes_window"]:
        connection.execute("DELETE FROM window WHERE place=? AND person=?", (body["place"], body["person"]))


def answered(connection: sqlite3.Connection, _entry: Entry, body: Doc) -> None:
    """Close the windows of a place that something pending was shown in, and open the one of the answer.

    Something else that was said there in between may close them too: the next words may answer that.
    """
    place = body["place"]
    if items(body["shows"]) or body.get("closes_windows"):
        connection.execute("DELETE FROM window WHERE place=?", (place,))
    if body["window"] is not None:
        window = mapping(body["window"])
        connection.execute(
            "INSERT OR REPLACE INTO window (place, person, proposal, opened_by) VALUES (?, ?, ?, ?)",
            (place, window["person"], window["proposal"], body["turn"]),
        )
