"""The inventory of a config: its tables, the SSH client's config, and the user that runs us.

One place, so that the daemon, `sayso doctor` and `sayso targets` mean the same hosts.
"""

from pathlib import Path

from bot.inventory import Inventory, InventoryError, build
from bot.settings.config import Config
from bot.settings.errors import ConfigError, Problem


def inventory_of(config: Config) -> Inventory:
    """Build the inventory.

    Raises:
        ConfigError: when the tables do not fit together.
    """
    ssh_config = Path(config.text("bot.ssh_config")).expanduser()
    try:
        return build(
            config.targets,
            config.services,
            ssh_config=ssh_config if ssh_config.exists() else None,
            local_user=config.login,
        )
    except InventoryError as error:
        where = str(config.file) if config.file else "config"
        raise ConfigError([Problem(where=where, key="", what=f"{error}.")]) from None
