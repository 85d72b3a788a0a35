"""Surfaces: the chat platforms that are switched on, found by name under adapters/ and made from the config.

A platform is a package of adapters/ with `Settings`, a pydantic model of what `[adapters.NAME]` may hold, and
`create`; what agents come in by has `open_entrance` instead. Nothing here knows any platform. The rule it
owns: what the config says of an adapter is checked by the adapter itself, without network, before anything
starts.
"""

import pkgutil
import socket
from collections.abc import Iterator, Mapping
from dataclasses import replace
from importlib import import_module
from types import ModuleType
from typing import Any

from pydantic import BaseModel, ValidationError

import adapters
from bot.callers import Callers, Entrance
from bot.delegates.keys import read as read_keys
from bot.planning.model import endpoint
from bot.ports import Bookmarks, ChatPort, Clock
from bot.settings.config import Config
from bot.settings.errors import ConfigError, Problem, unknown

#: The surface of this machine; it needs no settings and is always there.
_CONSOLE = "console"


def names() -> list[str]:
    """Return the platforms there are."""
    return sorted(one.name for one in pkgutil.iter_modules(adapters.__path__) if one.name != _CONSOLE)


def problems(config: Config) -> dict[str, list[Problem]]:
    """Return what is wrong with adapters that are on, secrets of agents, and the model; asks no network."""
    where = str(config.file or "")
    found: dict[str, list[Problem]] = {}
    for name, table in config.adapters.items():
        try:
            settings: Any = settings_of(name, table, where=where)
        except ConfigError as error:
            found[name] = list(error.problems)
        else:
            lacking = settings.problems()
            found[name] = [Problem(where=where, key=f"adapters.{name}", what=what) for what in lacking]
    try:
        read_keys(config.agents)
    except ConfigError as error:
        found["agents"] = [replace(one, where=where) for one in error.problems]
    if wrong := endpoint.problems(config):
        found["model"] = wrong
    return found


def check(config: Config) -> None:
    """Check the adapters that the config switches on; asks no network.

    Raises:
        ConfigError: with every problem found.
    """
    if found := [one for listed in problems(config).values() for one in listed]:
        raise ConfigError(found)


def settings_of(name: str, table: Mapping[str, Any], *, where: str = "") -> BaseModel:
    """Return the settings of an adapter.

    Raises:
        ConfigError: there is no such adapter, or it does not take what stands there.
    """
    module = _module(name, where)
    model: type[BaseModel] = module.Settings
    try:
        return model.model_validate(dict(table))
    except ValidationError as error:
        raise ConfigError(_problems(name, model, error, where)) from None


def open_ports(config: Config, *, clock: Clock, bookmarks: Bookmarks) -> list[ChatPort]:
    """Return a port for every adapter that the config switches on, none of them connected yet.

    Raises:
        ConfigError: with every problem found.
    """
    check(config)
    made: list[ChatPort] = []
    for name, table in config.adapters.items():
        settings, module = settings_of(name, table), _module(name, "")
        if hasattr(module, "create"):
            made.append(module.create(settings, clock=clock, bookmarks=bookmarks, host=socket.gethostname()))
    return made


def open_agent_entrances(config: Config, *, callers: Callers) -> list[Entrance]:
    """Return what agents come in by, for every adapter that is such and is on; none of them listens yet."""
    made: list[Entrance] = []
    for name, table in config.adapters.items():
        settings, module = settings_of(name, table), _module(name, "")
        if hasattr(module, "open_entrance"):
            group = config.text("bot.socket_group")
            socket_file = config.paths.agents_socket
            made.append(module.open_entrance(settings, callers=callers, socket=socket_file, group=group))
    return made


def setup_page(name: str, config: Config) -> str:
    """Return what the owner pastes where to set a platform up."""
    settings = settings_of(name, config.adapters.get(name, {}), where=str(config.file or ""))
    page: str = import_module(f"adapters.{name}.setup").page(settings)
    return page


def _module(name: str, where: str) -> ModuleType:
    if name not in names():
        what = unknown("adapter", name, names())
        raise ConfigError([Problem(where=where, key=f"adapters.{name}", what=what)])
    return import_module(f"adapters.{name}")


def _problems(name: str, model: type[BaseModel], error: ValidationError, where: str) -> Iterator[Problem]:
    for detail in error.errors(include_url=False):
        key = ".".join(("adapters", name, *map(str, detail["loc"])))
        extra = detail["type"] == "extra_forbidden"
        what = unknown("key", str(detail["loc"][-1]), model.model_fields) if extra else f"{detail['msg']}."
        yield Problem(where=where, key=key, what=what)
