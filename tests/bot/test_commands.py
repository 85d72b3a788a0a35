import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot import commands as c
from bot.control_words import names_its_own, parse, tightens
from gate.domain import ProposalId
from gate.policy import Posture

REF = c.Ref(proposal=ProposalId("k7f3a2"))
SECOND = c.Ref(proposal=ProposalId("k7f3a2"), index=2)
SHORT = c.Ref(proposal=ProposalId("c0de"))


@pytest.mark.parametrize(
    "text",
    [
        "stop",
        "STOP",
        "Stop.",
        "stop!!",
        "stop?",
        "/stop",
        "sayso stop",
        "@sayso, stop",
        "Sayso: stop everything",
        "please stop",
        "stop now",
        "stop, please",
        " stop ",
        "halt",
        "emergency stop",
        "stop it",
        "hey sayso stop",
    ],
)
def test_stop_is_recognised_in_its_simplest_forms(text: str) -> None:
    assert parse(text) == c.Stop()


@pytest.mark.parametrize(
    "text",
    [
        "stop caddy on web1",
        "stop caddy",
        "please stop nginx on @web",
        "run stop",
        "don't stop",
        "stop the presses",
        "nonstop",
        "why did it stop",
        "stop\ncaddy",
        "go ahead",
        "yes",
        "no",
        "no thanks",
        "ok",
        "",
        "   ",
        "/",
    ],
)
def test_requests_and_replies_are_not_swallowed(text: str) -> None:
    assert parse(text) is None


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("auto off", c.AutoOff()),
        ("Auto-Off!", c.AutoOff()),
        ("auto on", c.AutoOn()),
        ("resume", c.Resume()),
        ("posture approve_all", c.SetPosture(posture=Posture.APPROVE_ALL)),
        ("posture approve most", c.SetPosture(posture=Posture.APPROVE_MOST)),
        ("set posture to approve-config", c.SetPosture(posture=Posture.APPROVE_CONFIG)),
        ("never-auto web1", c.NeverAuto(target="web1")),
        ("never auto on @web", c.NeverAuto(target="@web")),
        ("never_auto_act web1", c.NeverAuto(target="web1")),
    ],
)
def test_switches(text: str, command: c.Command) -> None:
    assert parse(text) == command


@pytest.mark.parametrize(
    "text", ["resume?", "auto on?", "posture approve_config?", "resume web1", "posture", "posture yolo"]
)
def test_loosening_takes_its_exact_form(text: str) -> None:
    assert parse(text) is None


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("approve #k7f3a2", c.Approve(ref=REF)),
        ("Approve K7F3A2", c.Approve(ref=REF)),
        ("/approve k7f3a2", c.Approve(ref=REF)),
        ("approve k7f3a2.2", c.Approve(ref=SECOND)),
        ("approve k7f3a2, please", c.Approve(ref=REF)),
        ("approve hjkmnp", c.Approve(ref=c.Ref(proposal=ProposalId("hjkmnp")))),
        ("deny #k7f3a2", c.Deny(ref=REF)),
        ("deny k7f3a2 backup is running", c.Deny(ref=REF, reason="backup is running")),
        ("deny #k7f3a2.2: not now", c.Deny(ref=SECOND, reason="not now")),
        ("reject k7f3a2 because of the freeze.", c.Deny(ref=REF, reason="of the freeze")),
        ("no #k7f3a2", c.Deny(ref=REF)),
        ("no, k7f3a2 not today", c.Deny(ref=REF, reason="not today")),
        ("details k7f3a2", c.Details(ref=REF)),
        ("details", c.Details()),
        ("Show details, please", c.Details()),
        ("show #c0de", c.Details(ref=SHORT)),
        ("again #k7f3a2", c.Again(ref=REF)),
        ("retry k7f3a2.2", c.Again(ref=SECOND)),
        ("cancel", c.Cancel()),
        ("cancel it", c.Cancel()),
        ("cancel #k7f3a2.2", c.Cancel(ref=SECOND)),
        ("why k7f3a2?", c.Why(ref=REF)),
        ("why was #c0de refused?", c.Why(ref=SHORT)),
        ("preview k7f3a2", c.Preview(ref=REF)),
        ("settle #c0de ran, because the log says so", c.Settle(ref=SHORT, ran=True, why="the log says so")),
        (
            "settle c0de42 did-not-run: no trace",
            c.Settle(ref=c.Ref(proposal=ProposalId("c0de42")), ran=False, why="no trace"),
        ),
        ("settle #c0de did not run, because x", c.Settle(ref=SHORT, ran=False, why="x")),
        ("settle #c0de didn't run", c.Settle(ref=SHORT, ran=False)),
        ("settle #c0de ran", c.Settle(ref=SHORT, ran=True)),
    ],
)
def test_words_on_a_proposal(text: str, command: c.Command) -> None:
    assert parse(text) == command


@pytest.mark.parametrize(
    "text",
    [
        "approve",
        "approve it",
        "approve please",
        "approve #k7f3a2?",
        "approve k7f3a2 but not the second",
        "approve #k7f3a2 and #c0de42",
        "don't approve #k7f3a2",
        "approve #k7f3a2.0",
        "approve k7f3",
        "approve everything",
        "deny access to port 80",
        "no thanks",
        "no backup",
        "show uptime",
        "why not",
        "settle it",
        "settle #c0de",
        "settle #c0de maybe",
        "again please",
        "approve #k7f3a2 on web1",
    ],
)
def test_nothing_near_a_consent_or_an_id_counts(text: str) -> None:
    assert parse(text) is None


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("history", c.ShowHistory(text="history")),
        ("sayso history web1", c.ShowHistory(text="history web1")),
        ("who restarted caddy last week?", c.ShowHistory(text="who restarted caddy last week?")),
        ("what did ana approve today", c.ShowHistory(text="what did ana approve today")),
        ("what did you do?", c.ShowDigest()),
        ("what did you do yesterday?", c.ShowDigest(period="yesterday")),
        ("digest for last week", c.ShowDigest(period="last week")),
        ("what can you do?", c.Help()),
        ("what do you do", c.Help()),
        ("help", c.Help()),
        ("?", c.Help()),
        ("help history", c.Help(topic="history")),
        ("targets", c.ShowTargets()),
        ("which targets are there?", c.ShowTargets()),
        ("pending", c.ShowPending()),
        ("what is waiting?", c.ShowPending()),
        ("what depends on caddy", c.DependsOn(name="caddy")),
        ("what depends on caddy on web1?", c.DependsOn(name="caddy", target="web1")),
        ("what depends on it?", c.DependsOn()),
        ("what depends on nginx1", c.DependsOn(name="nginx1")),
        ("what depends on #k7f3a2?", c.DependsOn(ref=REF)),
    ],
)
def test_questions_about_sayso(text: str, command: c.Command) -> None:
    assert parse(text) == command


@pytest.mark.parametrize(
    "text",
    [
        "who is logged in on web1",
        "what did you do to caddy",
        "disk space on web1?",
        "what changed recently in /etc on web1",
        "run history on web1",
        "uptime",
        "what is listening on web1",
    ],
)
def test_questions_about_a_host_are_left_to_planning(text: str) -> None:
    assert parse(text) is None


@given(st.text(max_size=60))
def test_any_text_is_read_without_a_crash(text: str) -> None:
    for form in (text, f"stop {text}", f"approve {text}", f"settle #c0de {text}"):
        parse(form)


@given(st.text(min_size=1, max_size=20).filter(lambda words: words.strip(" .!?,\t\r\n") != ""))
def test_words_after_an_approval_never_approve(words: str) -> None:
    command = parse(f"approve #k7f3a2 {words}")
    assert (
        command is None
        or words.strip(" .!,\t\r\n").casefold() in {"please", "pls", "thanks", "thank you"}
        or not words.strip(" .!,")
    )


@pytest.mark.parametrize(
    "tail", ["." * 900 + "x", " " * 900 + "x", " please" * 120 + " x", ", " * 400 + "x", "?!. " * 200 + "x"]
)
@pytest.mark.parametrize(
    "head", ["stop", "approve #k7f3a2", "deny #k7f3a2 ", "why k7f3a2 ", "history ", "what did you do "]
)
@pytest.mark.timeout(30)  # what backtracks takes minutes
def test_hostile_text_is_read_to_its_end(head: str, tail: str) -> None:
    parse(head + tail)


@pytest.mark.parametrize("hidden", ["\u200b", "\u202e", "\x1f", "\x00", "\u00a0"])
def test_hidden_character_never_consents_or_loosens(hidden: str) -> None:
    for text in (
        f"approve #k7f3a2{hidden}",
        f"{hidden}approve #k7f3a2",
        f"approve {hidden}k7f3a2",
        f"{hidden}resume",
    ):
        assert parse(text) is None


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("revoke trust k7f3a2", "k7f3a2"),
        ("Revoke the trust rule #K7F3A2, please", "k7f3a2"),
        ("untrust k7f3a2!", "k7f3a2"),
        ("remove trust #c0de", "c0de"),
        ("revoke trust k7f3a2?", "k7f3a2"),
        ("revoke trust all", ""),
        ("revoke all trust rules", ""),
        ("/sayso revoke all trust", ""),
    ],
)
def test_revoking_trust_is_recognised_generously(text: str, rule: str) -> None:
    assert parse(text) == c.RevokeTrust(rule=rule)
    assert tightens(text)
    assert names_its_own(text)


@pytest.mark.parametrize(
    "text",
    ["trust k7f3a2", "revoke trust", "revoke trust caddy", "remove rule 12345", "do not revoke trust k7f3a2"],
)
def test_what_does_not_revoke_trust(text: str) -> None:
    assert not isinstance(parse(text), c.RevokeTrust)


@pytest.mark.parametrize("text", ["trust rules", "Trust list", "what do you trust?", "show trust rules"])
def test_trust_rules_are_listed(text: str) -> None:
    assert parse(text) == c.ShowTrust()


@pytest.mark.parametrize("text", ["runbooks", "Show runbooks", "which runbooks are there?"])
def test_runbooks_are_listed(text: str) -> None:
    assert parse(text) == c.ShowRunbooks()


@pytest.mark.parametrize("text", ["runbook free-vmid", "show me the runbook Free-VMID", "Runbook free-vmid?"])
def test_one_runbook_is_told_about(text: str) -> None:
    assert parse(text) == c.ShowRunbooks(name="free-vmid")


@pytest.mark.parametrize(
    "text", ["run runbook free-vmid", "runbook", "runbook free-vmid on pve1", "runbooks for lxc containers"]
)
def test_what_is_no_question_about_runbooks(text: str) -> None:
    assert parse(text) is None


@pytest.mark.parametrize("text", ["guidance", "guidance list", "what were you taught?"])
def test_guidance_is_listed(text: str) -> None:
    assert parse(text) == c.ShowGuidance()
