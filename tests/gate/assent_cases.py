"""What the tests of assent share: the lexicons, lists of pending actions and plain yeses."""

from bot.loading.lexicon import load_lexicons
from gate.assent import read
from gate.domain import Assent

LEXICONS = load_lexicons()
ONE = ("systemctl restart caddy on web1",)
TWO = ("systemctl restart caddy on web1", "apt upgrade -y on web2")
THREE = ("restart nginx on web1", "restart nginx on web2", "restart postgresql on db1")


def heard(text: str, pending: tuple[str, ...] = ONE, *, lang: str = "", bare_ack: bool = False) -> Assent:
    return read(text, pending=pending, lang=lang, lexicons=LEXICONS, bare_ack_grants=bare_ack)


GRANTS = [
    "yes",
    "Yes!",
    "yes please",
    "go ahead",
    "do it",
    "proceed",
    "ship it",
    "approved ✅",
    "👍",
    ":+1: proceed",
    "*Yes*, please go ahead :rocket:",
    "no objections, go ahead",
    "restart it",
    "yep, bounce caddy on web1",
    "please restart caddy",
    "can't see why not, go ahead",
    "don't wait for me, just do it",
    "@opsbot yes",
    "<@U0SAYSO> go ahead",
    "> systemctl restart caddy on web1\nyes",
    "&gt; Restart caddy?\nyes, do it",
    "`systemctl restart caddy` yes",
    "checked the graph, it is stuck, so restart it",
    "sí, adelante",
    "oui, vas-y",
    "ja, mach das",
    "sim, pode reiniciar",
    "sì, procedi",
    "ja hoor, doe maar",
    "نعم، نفّذ",
    "да",
]
