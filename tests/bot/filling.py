"""Requests that are answered by a form or a reply, and what became of them, for tests of forms."""

from gate.domain import ProposalId, Risk
from gate.policy import Permission
from ledger.views import ProposalView
from tests.kit import Kit, ScriptedPort, Shown

DELETE = "run rm -rf /srv/x on web1"
PHRASE = "delete /srv/x on web1"
RESTART = "run systemctl restart caddy on web1"
LITTLE = Permission(risk=Risk.REVERSIBLE_LOW, targets=("web2",))


def labels(kit: Kit) -> list[str]:
    return [one.label for one in kit.card.message.buttons]


def ran(kit: Kit) -> list[str]:
    return list(kit.core.executor.ran)  # type: ignore[attr-defined] # Ends


def with_forms() -> ScriptedPort:
    return ScriptedPort(forms=True)


def view_of(kit: Kit, proposal: str | None = None) -> ProposalView:
    view = kit.core.queries.proposal(ProposalId(proposal or kit.newest_id()))
    assert view is not None
    return view


def asking(kit: Kit, words: str) -> Shown:
    """Return the newest message that asks for a reply to it and holds `words`."""
    found = [one for one in kit.port.screen.values() if one.message.asks and words in one.text]
    return found[-1]


def reasons(kit: Kit) -> list[str]:
    """Return the state of every reason that was recorded."""
    rows = kit.core.ledger.reader().execute(
        "SELECT json_extract(body, '$.reason_state') FROM entry WHERE kind='reason:given' ORDER BY seq"
    )
    return [row[0] for row in rows]
