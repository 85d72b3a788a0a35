"""The risk rules of a config: those that come with sayso, with the operator's own files on top.

Says where the files lie; reading them is the business of bot.loading.rules. The rule it owns: a relative name
counts from the folder of the config file, so that it means the same wherever sayso is started.
"""

from pathlib import Path

from bot.loading.rules import load_rules
from bot.settings.config import Config
from gate.shell.model import Rules


def rule_files(config: Config) -> tuple[Path, ...]:
    """Return the operator's own rule files."""
    named = config.values["policy.rules"].value
    folder = config.file.parent if config.file else Path()
    return tuple(folder / Path(name).expanduser() for name in (named if isinstance(named, tuple) else ()))


def rules_of(config: Config) -> Rules:
    """Load the rules.

    Raises:
        RuleError: naming the file, and the key in it, that is wrong.
    """
    return load_rules(rule_files(config))
