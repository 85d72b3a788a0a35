"""The inventory: which targets exist, how they are reached, what depends on what.

`build` makes an `Inventory` from plain config values; `Inventory.select` turns what a person typed into
targets or a refusal with the nearest names; `Inventory.identify` tells as whom and with which host keys a
target would be reached right now. Nothing here opens a connection. `bot.inventory.importing` turns an SSH
config or an Ansible inventory into `[targets.*]` tables.
"""

from bot.inventory.build import build
from bot.inventory.config import ServiceConfig, TargetConfig
from bot.inventory.model import Inventory, InventoryError, NoSuchTarget, parts

__all__ = ["Inventory", "InventoryError", "NoSuchTarget", "ServiceConfig", "TargetConfig", "build", "parts"]
