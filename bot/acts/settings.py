"""Changing a setting by words: the facts for the gate, and the entry that changes it (K15, M7).

Which settings there are and what a value may be is the registry's; whether it may be changed is decided by
`gate.resolve.config_change`. The rule it owns: a setting changes only through an entry, and whoever changes
it is told what counts from then on, lowered or not.
"""

from collections.abc import Iterable
from datetime import datetime
from difflib import get_close_matches

from bot import commands, control_words
from bot.acts import dispatch
from bot.acts.handler import ActRequest, Bound
from bot.answering import Speaker
from bot.core import Core
from bot.outcome import Outcome
from bot.settings import checks
from bot.settings.explain import plain
from bot.settings.layers import Candidate, Layer, Resolved
from bot.settings.registry import BY_KEY, SETTINGS
from bot.settings.setting import Setting, Value
from bot.settings.strings import StringError, from_text
from bot.text import Text
from gate.autonomy import Level, at_least, rank
from gate.resolve import config_change
from gate.resolve.config_change import Known
from gate.resolve.decision import Act, Decision, Slots
from ledger.kinds import Json, Kind, SettingsAre

#: Tables of the config whose keys are names; nothing in them is changed by words.
_TABLES = ("operators", "targets", "services", "places", "routing", "adapters")

#: What does the same by a word of its own.
_WORDS = {
    "policy.posture": "posture approve_all",
    "policy.stopped": "stop",
    "policy.auto_act": "auto off",
    "policy.never_auto_act": "never auto <target>",
}
#: How the answer goes on where a change counts; `sayso config set` looks for it.
APPLIED = "from now on."
#: What stands in the place of a value where a setting is unset.
_UNSET = "(unset)"


class SettingActs:
    """Reads, resolves and performs changes of settings. Holds nothing."""

    acts = frozenset({Act.CONFIG_CHANGE})

    def read(self, core: Core, speaker: Speaker, request_at: datetime) -> ActRequest | None:  # noqa: ARG002 - of the protocol
        """Return the change that the whole message asks for; None for anything else."""
        if "set" not in speaker.said.casefold():
            return None
        slots: Slots
        match control_words.parse(speaker.said):
            case commands.SetSetting(key=key, value=value):
                slots = {"key": key, "value": value}
            case commands.UnsetSetting(key=key):
                slots = {"key": key, "value": _UNSET, "unset": "yes"}
            case _:
                return None
        return ActRequest(
            act=Act.CONFIG_CHANGE, slots=slots, said=speaker.said, request_at=request_at, tool="config_set"
        )

    def resolve(self, core: Core, outcome: Outcome, speaker: Speaker, request: ActRequest) -> Decision:  # noqa: ARG002 - of the protocol
        """Let the gate resolve a change."""
        key = request.slots["key"]
        near = get_close_matches(key, BY_KEY, n=1, cutoff=0.5)
        return config_change.resolve(
            request.slots,
            known=known(core, request.slots),
            nearest=near[0] if near else "",
            hint=_WORDS.get(key, ""),
        )

    def perform(
        self, core: Core, outcome: Outcome, speaker: Speaker, request: ActRequest, bound: Bound
    ) -> None:
        """Record the change, and say what counts from now on."""
        key = bound.slots["key"]
        wanted = _wanted(BY_KEY[key], bound.slots)
        before, after = core.settings.value(key), core.settings.if_set(key, wanted)
        outcome.expect(SettingsAre(core.queries.setting_seq()))
        body: dict[str, Json] = {"key": key, "by": speaker.operator.id, "place": outcome.place}
        body |= {"before": plain(before.value), "after": plain(after.value)}
        if wanted is None:
            outcome.write(Kind.SETTING_CLEARED, correlation_id=bound.commitment, body=body)
        else:
            body["value"] = _json(wanted.value)
            outcome.write(
                Kind.SETTING_CHANGED,
                correlation_id=bound.commitment,
                body=body,
                words={"said": request.said},
            )
        for view in core.queries.open_commitments():
            if view.act == Act.CONFIG_CHANGE and view.slots.get("key") == key and view.id != bound.commitment:
                # A phrase that was asked for before says nothing about what stands now.
                dispatch.abort(core, outcome, view.id, how="superseded_by_change")
        lines = [f"{key} is {plain(after.value)} {APPLIED} Before: {plain(before.value)}."]
        lines += [f"{key}: {after.lowered}."] if after.lowered else []
        outcome.say(Text.of(*lines, *_lowered_by(core, key, wanted)))


HANDLER = SettingActs()


def change(core: Core, outcome: Outcome, speaker: Speaker) -> None:
    """Carry out the control word that changes a setting."""
    request = HANDLER.read(core, speaker, speaker.sent_at or outcome.at)
    if request is not None:
        dispatch.begin(core, outcome, speaker, HANDLER, request)


def known(core: Core, slots: Slots) -> Known | None:
    """Return what the gate reads of the setting that `slots` name; None where there is none."""
    key = slots["key"]
    if key.partition(".")[0] in _TABLES:
        return Known(asks="", would_ask="", protected=True)
    setting = BY_KEY.get(key)
    if setting is None:
        return None
    now = core.settings.value(key)
    asks = plain(_asks(now))
    if setting.is_protected or not setting.at_run_time:
        return Known(asks=asks, would_ask="", protected=setting.is_protected, restarts=True)
    try:
        wanted = _wanted(setting, slots)
    except StringError as error:
        return Known(asks=asks, would_ask="", problem=str(error))
    after = core.settings.if_set(key, wanted)
    return Known(
        asks=asks,
        would_ask=plain(_asks(after)),
        problem=next((one.what for one in checks.zone_problems({"bot.timezone": after})), "")
        if key == "bot.timezone"
        else "",
        held=_held(core, key, wanted, after),
        loosens=_loosens(setting, now, after),
    )


def _wanted(setting: Setting, slots: Slots) -> Candidate | None:
    """Return the value that is asked for; None where it is to be unset.

    Raises:
        StringError: the setting takes no such value.
    """
    if "unset" in slots:
        return None
    text = "" if slots["value"] in ('""', "''") else slots["value"]
    return Candidate(layer=Layer.RUNTIME, where="", value=from_text(setting, text))


def _asks(resolved: Resolved) -> Value:
    """Return what the layers ask for, before a ceiling lowered it."""
    return resolved.value if resolved.requested is None else resolved.requested


def _held(core: Core, key: str, wanted: Candidate | None, after: Resolved) -> str:
    """Return which layer keeps a ceiling below what is asked for, as "propose (file /etc/sayso.toml)"."""
    if wanted is None or not BY_KEY[key].is_ceiling or rank(str(wanted.value)) <= rank(str(after.value)):
        return ""
    owners = core.settings.without_runtime(key)
    return f"{plain(owners.value)} ({owners.why})"


def _loosens(setting: Setting, now: Resolved, after: Resolved) -> bool:
    """Whether sayso would do more by itself: a ceiling that rises, a dial that rises to what acts (D19)."""
    before, then = str(_asks(now)), str(_asks(after))
    if rank(then) <= rank(before):
        return False
    return setting.is_ceiling or (bool(setting.clamped_by) and at_least(then, Level.APPLY))


def _lowered_by(core: Core, ceiling: str, wanted: Candidate | None) -> Iterable[str]:
    """Say what a ceiling that was just set lowers."""
    for setting in SETTINGS:
        if setting.clamped_by == ceiling:
            found = core.settings.if_set(ceiling, wanted, read=setting.key)
            if found.lowered:
                yield f"{setting.key}: {found.lowered}."


def _json(value: Value) -> Json:
    if isinstance(value, tuple):
        return list(value)
    return str(value) if isinstance(value, str) else value
