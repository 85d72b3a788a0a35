"""Watches: read in words, looked at through the gate, told of when they change and only then."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from bot.acts.watches import read_back
from bot.signals.cards import OVER
from bot.signals.watch_words import parse
from gate.domain import ProposalId
from gate.resolve.watch import Watched
from tests.bot.signals.alerting import alerting, at_rest, cards, executor, telling, texts
from tests.kit import Kit

DF = """Filesystem      Size  Used Avail Use% Mounted on
/dev/sda1  10G  5G  5G  50% /
/dev/sdb1  10G  9G  1G  {0}% /var
"""
FREE = """               total        used        free      shared  buff/cache   available
Mem:           3.8Gi       {0}       0.2Gi       1Mi       1.0Gi       {1}
Swap:             0B          0B          0B
"""
FAILED = """  UNIT          LOAD   ACTIVE SUB    DESCRIPTION
● caddy.service loaded failed failed Caddy

1 loaded units listed.
"""
NONE = "  UNIT LOAD ACTIVE SUB DESCRIPTION\n0 loaded units listed.\n"
STATUS = """○ caddy.service - Caddy
     Loaded: loaded (/lib/systemd/system/caddy.service; enabled)
     Active: {0} since today
"""
DATES = """subject=CN = web1
issuer=CN = ca
notBefore=Jan  1 00:00:00 2026 GMT
notAfter={0} GMT
"""
KNOWN, SERVICES = {"web1", "web2", "local", "@web"}, {"caddy"}


SAID = (
    # what is said: what is watched, target, about, limit, minutes between looks
    ("tell me when /var on web1 passes 90 %", Watched.DISK, "web1", "/var", 90, 5),
    ("Tell me when the disk on web1 is over 95%", Watched.DISK, "web1", "", 95, 5),
    ("notify us if /srv on @web exceeds 80 percent, every 10 minutes", Watched.DISK, "@web", "/srv", 80, 10),
    ("please watch the disk on web1 every hour", Watched.DISK, "web1", "", 90, 60),
    ("watch /var on web1 for 85%", Watched.DISK, "web1", "/var", 85, 5),
    ("tell me when /var passes 90%", Watched.DISK, "", "/var", 90, 5),
    ("tell me when memory on web2 goes above 80 %", Watched.MEMORY, "web2", "", 80, 5),
    ("watch failed units on @web every 5 minutes", Watched.FAILED_UNITS, "@web", "", 1, 5),
    ("tell me when a unit fails on web1", Watched.FAILED_UNITS, "web1", "", 1, 5),
    ("watch the failing services on web1", Watched.FAILED_UNITS, "web1", "", 1, 5),
    ("tell me when caddy on web1 stops", Watched.SERVICE, "web1", "caddy", 1, 5),
    ("tell me when caddy is down", Watched.SERVICE, "", "caddy", 1, 5),
    ("watch the service nginx on web1 every 2 minutes", Watched.SERVICE, "web1", "nginx", 1, 2),
    ("tell me when the cert /a.pem on web1 expires in 20 days", Watched.CERTIFICATE, "web1", "/a.pem", 20, 5),
    ("watch the cert in /a.pem on web1 every 24 hours", Watched.CERTIFICATE, "web1", "/a.pem", 14, 1440),
    ("tell me when web1 is unreachable", Watched.REACHABLE, "web1", "", 1, 5),
    ("alert me when web2 goes down!", Watched.REACHABLE, "web2", "", 1, 5),
    ("watch @web", Watched.REACHABLE, "@web", "", 1, 5),
    ("أخبرني عندما يتجاوز /var على web1 90%", Watched.DISK, "web1", "/var", 90, 5),
    ("راقب الوحدات الفاشلة على @web كل ١٠ دقائق", Watched.FAILED_UNITS, "@web", "", 1, 10),
    ("راقب القرص على web1", Watched.DISK, "web1", "", 90, 5),
    ("راقب web1", Watched.REACHABLE, "web1", "", 1, 5),
)  # fmt: skip


@pytest.mark.parametrize(("said", "wanted"), [(one[0], one[1:]) for one in SAID])
def test_a_watch_is_read_and_its_sentence_reads_back(said: str, wanted: Sequence[object]) -> None:
    found = parse(said, known=KNOWN, services=SERVICES)
    assert found is not None
    assert (found.watched, found.target, found.about, found.limit, found.every_s // 60) == tuple(wanted)
    again = parse(found.text, known=KNOWN, services=SERVICES)
    assert again is not None
    assert again.text == found.text


@pytest.mark.parametrize(
    "said",
    [
        "tell me when the sync is",
        "tell me when to leave",
        "tell me about web1",
        "watch it",
        "watch out for ana",
        "watch web9",
        "what is on web1",
        "remind me when web1 is down",
        "tell me when it fails",
        "run watch df on web1",
        "tell me when\nweb1 is down",
        "أخبرني عندما يتجاوز /Var على web1 90%",  # the folding would watch another path
        "",
    ],
)
def test_other_words_are_no_watch(said: str) -> None:
    assert parse(said, known=KNOWN, services=SERVICES) is None


async def passes(kit: Kit, *, minutes: float = 5) -> None:
    kit.clock.advance(minutes * 60)
    await kit.look()
    await at_rest(kit)


LOOKS: dict[str, tuple[str, str, Sequence[tuple[int | None, str]], str]] = {
    # what is said, the command that looks, what it prints when all is well and then not, what is told
    "disk": (
        "tell me when /var/log on web1 passes 90 %",
        "df -h",
        [(0, DF.format(89)), (0, DF.format(93))],
        "/var/log (on /var) is 93 % full",
    ),
    "memory": (
        "tell me when memory on web1 passes 90 %",
        "free -h",
        [(0, FREE.format("2.0Gi", "1.8Gi")), (0, FREE.format("3.6Gi", "200Mi"))],
        "95 % of the memory is used",
    ),
    "failed units": (
        "watch failed units on web1",
        "systemctl --failed --no-pager",
        [(0, NONE), (0, FAILED)],
        "1 failed unit: caddy.service",
    ),
    "service": (
        "tell me when caddy on web1 stops",
        "systemctl status caddy --no-pager",
        [(0, STATUS.format("active (running)")), (3, STATUS.format("failed (Result: exit-code)"))],
        "caddy is failed",
    ),
    "certificate": (
        "tell me when the certificate /etc/ssl/a.pem on web1 expires within 20 days",
        "openssl x509 -noout -subject -issuer -dates -in /etc/ssl/a.pem",
        [(0, DATES.format("Mar 23 15:00:00 2026")), (0, DATES.format("Mar 20 15:00:00 2026"))],
        "the certificate /etc/ssl/a.pem expires in 18 days",
    ),
    "reachable": (
        "tell me when web1 is unreachable",
        "true",
        [(0, ""), (None, "no route to host")],
        "web1 cannot be reached",
    ),
}


@pytest.mark.parametrize("what", LOOKS)
async def test_a_change_is_told_once_with_its_value_and_its_end_closes_the_card(
    tmp_path: Path, what: str
) -> None:
    said, command, (well, ill), told = LOOKS[what]
    async with alerting(
        tmp_path, level="off", executor=telling({command: [well, ill, ill, well, well]})
    ) as kit:
        assert "✓ Watching: " in await kit.say(said)
        await at_rest(kit)
        assert executor(kit).ran == [command]
        assert len(texts(kit)) == 1
        await passes(kit)
        (card,) = cards(kit)  # whoever asked to be told is told, whatever the dial says
        assert card.startswith("⚑ watch: ")
        assert told in card
        before = len(texts(kit))
        await passes(kit)  # still so: nothing is said
        assert len(texts(kit)) == before
        await passes(kit)
        assert cards(kit) == []
        assert "over since 14:15, began 14:05" in cards(kit, OVER)[0]
        await passes(kit)
        assert len(texts(kit)) == before
        assert executor(kit).ran == [command] * 5
        assert kit.kinds().count("watch:changed") == 3


async def test_a_look_is_an_ordinary_action_without_a_card(tmp_path: Path) -> None:
    async with alerting(tmp_path, executor=telling({"df -h": [(0, DF.format(10))]})) as kit:
        await kit.say("tell me when /var on web1 passes 90 %")
        await at_rest(kit)
        view = kit.core.queries.proposal(ProposalId(kit.newest_id()))
        assert view is not None
        assert (view.requester, view.source, kit.states()) == ("ana", "watch", ["succeeded"])
        assert {"occurrence:claimed", "proposal:made", "action:queued", "action:started"} <= set(kit.kinds())
        assert len(texts(kit)) == 1
        assert "df -h" not in await kit.say("history")
        assert "0 commands" in await kit.say("what did you do today?")


async def test_what_cannot_be_seen_is_told_once_and_is_not_well(tmp_path: Path) -> None:
    ends = [
        (0, DF.format(10)),
        (127, "df: not found"),
        (127, "df: not found"),
        (None, "no route"),
        (0, DF.format(95)),
    ]
    async with alerting(tmp_path, executor=telling({"df -h": ends})) as kit:
        await kit.say("tell me when /var on web1 passes 90 %")
        await at_rest(kit)
        for _ in range(3):
            await passes(kit)
        blind = [text for text in texts(kit) if "sees nothing on web1" in text]
        assert len(blind) == 1
        assert "what df printed cannot be read (exit 127)" in blind[0]
        assert "? web1: " in await kit.say("watches")
        await passes(kit)
        assert "/var is 95 % full" in cards(kit)[0]


async def test_a_group_of_targets_is_looked_at_one_by_one(tmp_path: Path) -> None:
    ends = [(0, DF.format(95)), (0, DF.format(10))]
    async with alerting(tmp_path, executor=telling({"df -h": ends})) as kit:
        await kit.say("tell me when /var on @web passes 90 %")
        await at_rest(kit)
        assert len(executor(kit).ran) == 2
        assert len(cards(kit)) == 1
        assert "▲" in await kit.say("watches")


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("tell me when /var on web9 passes 90 %", "No target web9"),
        ("tell me when /var on web1 passes 190 %", "not from 1 to 100"),
        ("tell me when certificate of example.org on web1 expires within 9 days", "not certainly read-only"),
        ("watch failed units on web1 every 2000 hours", "once a day at least"),
    ],
)
async def test_what_could_not_be_looked_at_is_refused_at_once(tmp_path: Path, said: str, why: str) -> None:
    async with alerting(tmp_path) as kit:
        shown = await kit.say(said)
        assert "Nothing is watched" in shown
        assert why in shown
        assert kit.core.queries.jobs() == ()


async def test_a_target_is_asked_for_where_none_was_said(tmp_path: Path) -> None:
    async with alerting(tmp_path, executor=telling({"df -h": [(0, DF.format(10))]})) as kit:
        assert "On which target?" in await kit.say("tell me when /var passes 90 %")
        assert "✓ Watching: /var on web2 passes 90 %" in await kit.say("web2")


async def test_a_look_waits_for_nobody_it_stops_with_everything(tmp_path: Path) -> None:
    async with alerting(tmp_path, executor=telling({"df -h": [(0, DF.format(95))]})) as kit:
        await kit.say("auto off")
        assert "every look would wait for a yes (auto off)" in await kit.say(
            "tell me when /var on web1 passes 90 %"
        )
        await kit.say("resume")
        await kit.say("resume sayso")
        assert "✓ Watching" in await kit.say("tell me when /var on web1 passes 96 %")
        await at_rest(kit)
        await kit.say("auto off")
        await passes(kit)
        await passes(kit)
        assert sum("sees nothing on web1: auto off" in text for text in texts(kit)) == 1
        await kit.say("stop")
        await passes(kit)
        await passes(kit)
        assert sum("does not look. It goes on after  resume." in text for text in texts(kit)) == 1
        assert executor(kit).ran == ["df -h"]


async def test_a_watch_is_listed_and_ends_by_a_word_and_what_it_told_of_with_it(tmp_path: Path) -> None:
    async with alerting(tmp_path, executor=telling({"df -h": [(0, DF.format(95))]})) as kit:
        await kit.say("tell me when /var on web1 passes 90 %")
        await at_rest(kit)
        shown = await kit.say("watches")
        assert "tell me when /var on web1 passes 90 %, every 5 minutes, by ana" in shown
        assert "▲ web1: /var is 95 % full" in shown
        (job,) = kit.core.queries.jobs()
        assert "No watch k99999 here" in await kit.say("stop watching k99999")
        assert f"Cancelled watch {job.id}" in await kit.say(f"stop watching {job.id}")
        await passes(kit)
        assert cards(kit) == []
        assert len(cards(kit, OVER)) == 1
        assert len(executor(kit).ran) == 1
        assert "Nothing is watched here" in await kit.say("watches")


async def test_at_run_a_watch_leads_to_what_the_library_has_for_it(tmp_path: Path) -> None:
    async with alerting(tmp_path, level="propose", executor=telling({"df -h": [(0, DF.format(95))]})) as kit:
        await kit.say("tell me when /var on web1 passes 90 %")
        await at_rest(kit)
        assert "Proposed, and waits for a yes" in cards(kit)[0]
        assert "asked by alert watch" in kit.card.text


async def test_a_watch_of_words_that_mean_nothing_any_more_says_so(tmp_path: Path) -> None:
    async with alerting(tmp_path, executor=telling({"df -h": [(0, DF.format(10))]})) as kit:
        await kit.say("tell me when /var on web1 passes 90 %")
        assert read_back(kit.core, "tell me when /var on web1 passes 90 %, every 5 minutes") is not None
        await at_rest(kit)
        object.__setattr__(kit.core.inventory, "targets", {})
        await passes(kit)
        assert any("sees nothing" in text and "No target web1" in text for text in texts(kit))
