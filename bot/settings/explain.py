"""Settings in words: what counts, where it comes from, what it displaced, how it is changed.

Pure. The same words in chat and on the command line. No setting holds a secret; they name files (D24).
"""

from collections.abc import Mapping

from bot.settings.layers import Candidate, Resolved
from bot.settings.setting import Scope, Setting, Value


def plain(value: Value) -> str:
    """Return a value as people write it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return ",".join(map(str, value)) or '""'
    return str(value) or '""'


def said(candidate: Candidate) -> str:
    """Return "file /etc/sayso.toml propose"."""
    where = f" {candidate.where}" if candidate.where else ""
    return f"{candidate.layer}{where} {plain(candidate.value)}"


def line(resolved: Resolved) -> str:
    """Return one setting as a line: what counts, and why."""
    lowered = f"; {resolved.lowered}" if resolved.lowered else ""
    displaced = "".join(f"; displaced {said(other)}" for other in resolved.displaced)
    return f"{plain(resolved.value)}  ({resolved.why}{displaced}{lowered})"


def how_to_change(setting: Setting) -> str:
    """Return who may change it, and by which words."""
    if setting.is_ceiling:
        return (
            f"Lower it with  set {setting.key} to … ; to raise it again takes a typed phrase, and never goes"
            " above the config. Whoever can write the config file can raise it there."
        )
    if setting.is_protected:
        return f"Protected. Change {setting.key} in the config file and restart."
    if not setting.hot:
        return f"Takes a restart. Change {setting.key} in the config file and restart."
    return f"Change it with  set {setting.key} to … ;  unset {setting.key}  takes that back."


def explained(resolved: Resolved) -> list[str]:
    """Return all there is to say of one setting, a line each."""
    setting = resolved.setting
    lines = [f"{setting.key} = {line(resolved)}", setting.help]
    if setting.words:
        lines.append(f"Takes: {', '.join(setting.words)}.")
    if setting.clamped_by:
        lines.append(f"Never above {setting.clamped_by}.")
    if setting.scope is Scope.CALL:
        lines.append("A request may ask for its own.")
    return [*lines, how_to_change(setting)]


def listed(values: Mapping[str, Resolved]) -> list[str]:
    """Return every setting that chat may change, a line each, and where the others are."""
    mine = {key: one for key, one in values.items() if one.setting.at_run_time}
    width = max(map(len, mine))
    lines = [f"{key:<{width}}  {line(one)}" for key, one in mine.items()]
    others = sorted({one.setting.section for one in values.values() if not one.setting.at_run_time})
    return [
        *lines,
        "settings <key>  explains one,  set <key> to <value>  and  unset <key>  change one.",
        f"The config file alone has the rest of: {', '.join(others)}.",
    ]
