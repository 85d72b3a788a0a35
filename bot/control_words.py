"""Control words read out of messages.

A message is a control word only as a whole, so "stop" is the switch and "stop caddy on web1" is a request.
What tightens is recognised generously; what consents or loosens only in its exact form (D19).
"""

import re
from collections.abc import Callable

from bot import history, learning_words, recall_words, retry_words, run_words, signal_words
from bot.commands import (
    Again,
    AllowAuto,
    Approve,
    AutoOff,
    AutoOn,
    Cancel,
    Command,
    Deny,
    DependsOn,
    Details,
    Edit,
    Help,
    NeverAuto,
    Pair,
    Preview,
    Ref,
    Resume,
    RetryFailed,
    RevokeTrust,
    SetPosture,
    SetSetting,
    Settle,
    ShowAccounts,
    ShowDigest,
    ShowGuidance,
    ShowHistory,
    ShowJobs,
    ShowMemory,
    ShowPending,
    ShowRunbooks,
    ShowSettings,
    ShowTargets,
    ShowTrust,
    Stop,
    StopRun,
    Tightening,
    Unpair,
    UnsetSetting,
    Why,
)
from bot.settings.registry import SETTINGS
from gate.domain import ProposalId
from gate.policy import Posture

#: Longer messages are no control words; it also bounds what the patterns below may cost.
MAX_CHARS = 1000

_ADDRESS = re.compile(
    r"(?:(?:hey|hi)\s+)?@?sayso(?:\s*[,:]\s*|\s+)(?=\S)|/(?:sayso\s+)?(?=\S)", re.IGNORECASE
)
_COURTESY = re.compile(r"(?:please|pls)[\s,]+(?=\S)", re.IGNORECASE)
_REF = r"(?P<ref>#[a-z0-9]{4,8}|[a-z0-9]{6})(?:\.(?P<index>[1-9]\d{0,2}))?"
_EDIT = re.compile(
    r"edit\s+(?P<ref>#[a-z0-9]{4,8}|(?=[a-z]*\d)[a-z0-9]{6})[\s:,]+(\S.*)", re.IGNORECASE | re.DOTALL
)
_END = r"(?:[\s,]+(?:please|pls|thanks|thank\s+you))?\s*[.!]*"

#: Words of six letters that people write after a verb and never mean as an id.
_NO_IDS = frozenset(
    {"please", "thanks", "anyway", "reboot", "update", "backup", "server", "docker", "deploy"}
)


def parse(text: str) -> Command | None:
    """Read a whole message as a control word; None when it is something else.

    Example inputs: "stop", "Sayso, stop everything", "/approve #k7f3a2", "deny k7f3a2 backup is running",
    "settle #c0de42 ran, because the log says so", "what depends on caddy on web1?".
    """
    message = bare(text)
    if match := _EDIT.match(message):
        return Edit(ref=Ref(proposal=ProposalId(match["ref"].casefold().removeprefix("#"))), request=match[2])
    if not message or "\n" in message or len(message) > MAX_CHARS:
        return None
    tighter = _tightening(message)
    if tighter is not None or not text.strip(" \t\r\n").replace("\t", " ").isprintable():
        return tighter  # with a hidden character in it, nothing counts that consents or loosens
    for read in (
        _loosening,
        retry_words.read,
        run_words.read,
        signal_words.read,
        _on_proposal,
        _accounts,
        _setting,
        _show,
    ):
        command = read(message)
        if command is not None:
            return command
    return ShowHistory(text=message) if history.is_query(message) else None


def tightens(text: str) -> bool:
    """Whether a whole message is one of the words that tighten, which take effect however they come (D19)."""
    return isinstance(parse(text), Tightening)


def names_its_own(text: str) -> bool:
    """Whether a message steers by itself, whatever it replies to: it tightens or names what it is about.

    So does a bare "cancel", which drops what its sender was asked about.
    """
    return isinstance(
        parse(text), Tightening | Approve | Deny | Edit | Cancel | Settle | Again | RetryFailed | StopRun
    )


def bare(text: str) -> str:
    """Return a message without who it is addressed to and without courtesies in front."""
    message = text.strip()
    for prefix in (_ADDRESS, _COURTESY):
        if match := prefix.match(message):
            message = message[match.end() :]
    return message


_TAILS = (" please", " pls", " now", " right now", " immediately", " at once", ",please", ",pls")


def _plain(message: str) -> str:
    """Return the message in lower case, blanks collapsed, closing marks and courtesies gone."""
    words = " ".join(message.casefold().split())
    while True:
        shorter = words.rstrip(" .!?,")
        for tail in _TAILS:
            shorter = shorter.removesuffix(tail)
        if shorter == words:
            return words
        words = shorter


def _phrases(listed: str) -> frozenset[str]:
    return frozenset(" ".join(phrase.split()) for phrase in listed.split("|"))


_STOPS = _phrases(
    """stop | stop stop | stop all | stop it | stop it all | stop everything | stop all of it | stopp |
    full stop | emergency stop | e-stop | estop | kill switch | killswitch | halt | halt everything |
    freeze | freeze everything | panic | stop sayso | stop the bot | abort everything | stop that |
    stop this | stop working | stop running | stop doing that | abort all | cancel everything"""
)
_AUTO_OFFS = _phrases("auto off | auto-off | autooff | auto act off | turn auto off | auto stop | no auto")
_AUTO_ONS = frozenset({"auto on", "auto-on", "auto act on", "turn auto on"})
_RESUMES = frozenset({"resume", "unstop", "resume everything", "resume all"})
_POSTURE = re.compile(r"(?:set\s+)?posture(?:\s*[:=]\s*|\s+(?:to\s+)?)(approve[ _-](?:all|most|config))")
_ALLOW_AUTO = re.compile(r"allow[ _-]auto(?:[ _-]act)?(?:\s+on|\s*:|\s*=)?\s+(@?[a-z0-9][a-z0-9._-]*)")
_NEVER_AUTO = re.compile(r"never[ _-]auto(?:[ _-]act)?(?:\s+on|\s*:|\s*=)?\s+(@?[a-z0-9][a-z0-9._-]*)")
_UNTRUST = re.compile(
    r"(?:(?:revoke|end|remove|drop|delete)\s+(?:the\s+)?trust(?:\s+rule)?|untrust|distrust)\s+"
    r"(?:#?(?P<rule>(?=[a-z]*\d)[a-z0-9]{4,8})|all|everything)"
    r"|(?:revoke|end|remove|drop|delete)\s+all\s+(?:trust|trust\s+rules)"
)


def _tightening(message: str) -> Command | None:
    plain = _plain(message)
    if plain in _STOPS:
        return Stop()
    if plain in _AUTO_OFFS:
        return AutoOff()
    if match := _UNTRUST.fullmatch(plain):
        return RevokeTrust(rule=match["rule"] or "")
    match = _NEVER_AUTO.fullmatch(plain)
    return NeverAuto(target=match[1]) if match else None


def _loosening(message: str) -> Command | None:
    if message.endswith("?"):
        return None  # "resume?" asks; only what tightens may be read out of a question
    plain = _plain(message)
    if plain in _AUTO_ONS:
        return AutoOn()
    if plain in _RESUMES:
        return Resume()
    if match := _ALLOW_AUTO.fullmatch(plain):
        return AllowAuto(target=match[1])
    match = _POSTURE.fullmatch(plain)
    return SetPosture(posture=Posture(re.sub(r"[ -]", "_", match[1]))) if match else None


def _verb(words: str, rest: str = "") -> re.Pattern[str]:
    return re.compile(rf"(?:{words})\s+{_REF}{rest}{_END}", re.IGNORECASE | re.DOTALL)


_BECAUSE = r"(?:[\s,:;.\u2013\u2014-]+(?:because\s+)?(?P<why>\S.*?))?"
_APPROVE = _verb("approve")
_DENY = _verb("deny|reject|refuse", _BECAUSE)
_NO = _verb("no,?", _BECAUSE)
_SETTLE = _verb(
    "settle", rf"[\s,:]+(?P<end>ran|did[\s_-]?(?:not|n't|n\u2019t)[\s_-]run|didn'?t[\s_-]run){_BECAUSE}"
)
_CANCEL = _verb("cancel|abort|withdraw")
_CANCEL_ANY = _phrases(
    """cancel | cancel it | cancel that | cancel this | abort | abort it | never mind | nevermind"""
)
_DETAILS_ANY = frozenset({"details", "detail", "show details"})
_SIMPLE: tuple[tuple[re.Pattern[str], bool, Callable[[Ref], Command]], ...] = (
    # pattern, whether a bare word must hold a digit ("show uptime" is no id), what to build
    (_APPROVE, False, lambda ref: Approve(ref=ref)),
    (_CANCEL, False, lambda ref: Cancel(ref=ref)),
    (_verb(r"details?(?:\s+of)?"), False, lambda ref: Details(ref=ref)),
    (_verb(r"show(?:\s+me)?|output(?:\s+of)?"), True, lambda ref: Details(ref=ref)),
    (_verb(r"again|redo|retry|ask\s+again"), False, lambda ref: Again(ref=ref)),
    (_verb(r"preview|dry[- ]?run"), False, lambda ref: Preview(ref=ref)),
    (_verb("explain"), True, lambda ref: Why(ref=ref)),
)
_WHY = re.compile(rf"why(?:\s+(?:is|was|does|did))?\s+{_REF}(?:\s+\w+){{0,4}}[\s.!?]*", re.IGNORECASE)


def _on_proposal(message: str) -> Command | None:
    if (plain := _plain(message)) in _CANCEL_ANY:
        return Cancel()
    if plain in _DETAILS_ANY:
        return Details()
    for pattern, sure, build in _SIMPLE:
        if (match := pattern.fullmatch(message)) and (ref := _ref(match, sure=sure)):
            return build(ref)
    if (match := _WHY.fullmatch(message)) and (ref := _ref(match, sure=True)):
        return Why(ref=ref)
    return _refusal(message) or _settlement(message)


def _refusal(message: str) -> Deny | None:
    match = _DENY.fullmatch(message) or _NO.fullmatch(message)
    if match is None:
        return None
    # "deny access to …" and "no thanks" are no ids
    sure = match["why"] is not None or message[:2].casefold() == "no"
    ref = _ref(match, sure=sure)
    return Deny(ref=ref, reason=match["why"] or "") if ref else None


def _settlement(message: str) -> Settle | None:
    match = _SETTLE.fullmatch(message)
    ref = _ref(match) if match else None
    if match is None or ref is None:
        return None
    return Settle(ref=ref, ran=match["end"].casefold() == "ran", why=match["why"] or "")


def _ref(match: re.Match[str], *, sure: bool = False) -> Ref | None:
    """Return the id in `match`; a bare word must not be a common one, and for `sure` must hold a digit."""
    word = match["ref"].casefold()
    bare = not word.startswith("#")
    if bare and (word in _NO_IDS or (sure and word.isalpha())):
        return None
    index = match["index"]
    return Ref(proposal=ProposalId(word.removeprefix("#")), index=int(index) if index else None)


_NAME = r"[a-z0-9@](?:[a-z0-9@:._-]*[a-z0-9])?"
_DEPENDS = re.compile(
    rf"(?:what|who|which\s+services?)\s+depends?\s+on\s+(?:the\s+)?(?:(?P<it>it|this|that|them)"
    rf"|(?P<ref>#[a-z0-9]{{4,8}})(?:\.(?P<index>[1-9]\d{{0,2}}))?|(?P<name>{_NAME}))(?:\s+on\s+(?P<target>{_NAME}))?[\s.!?]*",
    re.IGNORECASE,
)
_DIGEST = re.compile(
    r"(?:what\s+(?:did|have)\s+(?:you|u|sayso)\s+(?:do|done|did)|digest|summary|sum\s*up|recap)"
    r"(?:\s+(?:for|of|from))?(?P<period>(?:\s+[\w-]+){0,4})[\s.!?]*",
    re.IGNORECASE,
)
_HELP = re.compile(r"(?:help|\?)(?:\s+(?:with\s+|me\s+)?(?P<topic>[\w-]+))?[\s.!?]*", re.IGNORECASE)
_HELPS = _phrases(
    """help | help me | commands | what can you do | what do you do | what can i do | what can i ask |
    what can i say | how does this work | usage | what are you | who are you"""
)
_TARGETS = _phrases(
    """targets | hosts | inventory | list targets | show targets | list hosts | show hosts | what targets |
    which targets | what targets are there | which targets are there | which hosts are there |
    what hosts are there | what targets do you know | which targets do you know | list all targets"""
)
_TRUSTS = _phrases(
    """trust | trust rules | trust list | list trust | list trust rules | show trust | show trust rules |
    what do you trust | what is trusted"""
)
_GUIDANCES = _phrases("""guidance | guidance list | list guidance | show guidance | what were you taught""")
_RUNBOOKS = _phrases(
    """runbooks | list runbooks | show runbooks | list the runbooks | show the runbooks | all runbooks |
    what runbooks are there | which runbooks are there | what runbooks do you have |
    what runbooks do you know | which runbooks do you have | which runbooks do you know"""
)
_RUNBOOK = re.compile(
    r"(?:(?:show|describe|explain)\s+(?:me\s+)?(?:the\s+)?)?runbook\s+(?P<id>[a-z0-9][a-z0-9._-]{0,63}?)[\s.!?]*",
    re.IGNORECASE,
)
_REMINDERS = _phrases(
    """reminders | my reminders | list reminders | show reminders | list my reminders | show my reminders |
    what reminders are there | what reminders do i have | which reminders do i have | pending reminders |
    تذكيراتي | التذكيرات | تذكيرات"""
)
_JOBS = _phrases(
    """schedules | scheduled | my schedules | list schedules | show schedules | schedule | show schedule |
    what is scheduled | what's scheduled | whats scheduled | what\u2019s scheduled | what is planned |
    jobs | my jobs | list jobs | show jobs | what jobs are there | scheduled jobs | scheduled commands"""
)
_PENDINGS = _phrases(
    """pending | waiting | what is waiting | what's waiting | whats waiting | what\u2019s waiting |
    approvals | what is pending | what's pending | whats pending | what\u2019s pending | open |
    what is open | show pending | list pending | pending approvals | what waits | what is left | queue |
    what's open"""
)


_PAIRS = frozenset({"pair", "pair account", "pair my account", "pair an account"})
_ACCOUNTS = frozenset({"accounts", "my accounts", "list accounts", "show accounts"})
_UNPAIR = re.compile(r"unpair\s+([a-z][a-z0-9_-]*:[^:\s]*:\S+)", re.IGNORECASE)


def _accounts(message: str) -> Command | None:
    plain = _plain(message)
    if plain in _PAIRS:
        return Pair()
    if plain in _ACCOUNTS:
        return ShowAccounts()
    match = _UNPAIR.fullmatch(message)
    return Unpair(account=match[1]) if match else None


#: What begins a setting's key wherever it stands; other dotted words are keys after "settings" and "unset".
_TABLES = "operators|targets|services|places|routing|adapters|safety|agent|notifications"
_SECTIONS = "|".join([*dict.fromkeys(one.section for one in SETTINGS), _TABLES])
_KEY = r"[A-Za-z][\w-]*(?:\.[\w@-]+)+"
_SET = re.compile(
    rf"(?:settings?\s+set\s+(?P<any>{_KEY})|set\s+(?P<key>(?:{_SECTIONS})(?:\.[\w@-]+)+))"
    r"(?:\s+to\s+|\s*=\s*|\s+)(?P<value>\S.*)",
    re.IGNORECASE,
)
_UNSET = re.compile(rf"(?:settings?\s+)?(?:unset|reset)\s+(?P<key>{_KEY})", re.IGNORECASE)
_SETTING = re.compile(
    rf"(?:(?:show|explain)\s+)?settings?\s+(?:get\s+|explain\s+)?(?P<key>{_KEY})", re.IGNORECASE
)
_SETTINGS = _phrases("settings | show settings | list settings | show the settings | what are the settings")


def _setting(message: str) -> Command | None:
    if match := _SET.fullmatch(message):
        return SetSetting(key=(match["any"] or match["key"]).lower(), value=match["value"].strip())
    if match := _UNSET.fullmatch(message.rstrip(" .!")):
        return UnsetSetting(key=match["key"].lower())
    if match := _SETTING.fullmatch(message.rstrip(" .!?")):
        return ShowSettings(key=match["key"].lower())
    return ShowSettings() if _plain(message) in _SETTINGS else None


_SHOWN: tuple[tuple[frozenset[str], Command], ...] = (
    (_TARGETS, ShowTargets()),
    (_PENDINGS, ShowPending()),
    (_REMINDERS, ShowJobs()),
    (_JOBS, ShowJobs(all_kinds=True)),
    (_TRUSTS, ShowTrust()),
    (_GUIDANCES, ShowGuidance()),
    (_RUNBOOKS, ShowRunbooks()),
    (_HELPS, Help()),
)


def _show(message: str) -> Command | None:
    plain = _plain(message)
    shown = next((command for phrases, command in _SHOWN if plain in phrases), None)
    return shown or _show_about(message)


def _show_about(message: str) -> Command | None:
    if match := _HELP.fullmatch(message):
        return Help(topic=match["topic"] or "")
    if (about_learning := learning_words.parse(message, _plain(message))) is not None:
        return about_learning
    if match := _RUNBOOK.fullmatch(message):
        return ShowRunbooks(name=match["id"].casefold())
    if match := _DEPENDS.fullmatch(message):
        return _depends(match)
    if match := _DIGEST.fullmatch(message):
        period = " ".join(match["period"].split())
        return ShowDigest(period=period) if history.is_period(period) else None
    about = recall_words.recalled(message)
    return None if about is None else ShowMemory(about=about)


def _depends(match: re.Match[str]) -> DependsOn:
    if match["it"]:
        return DependsOn(target=match["target"])
    if match["ref"]:
        return DependsOn(ref=_ref(match))
    return DependsOn(name=match["name"], target=match["target"])
