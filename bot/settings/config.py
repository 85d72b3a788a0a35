"""The config: every layer put together into one frozen value.

`load` is a function of its arguments and of the one file it reads; `for_process` calls it with this process's
environment and user. It does not watch the file and applies nothing. The rules it owns: with no config the
one target is `local` and the one operator is the user of this machine; a table in the file displaces these.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import time
from pathlib import Path
from typing import Any
from zoneinfo import available_timezones

from bot.delegates.config import AgentConfig
from bot.delegates.config import problems as agent_problems
from bot.inventory.config import ServiceConfig, TargetConfig
from bot.local_socket import login_name
from bot.settings import checks, strings
from bot.settings.document import ESCALATION, Document, OperatorConfig, parse
from bot.settings.errors import ConfigError, Problem
from bot.settings.layers import Candidate, Layer, Resolved, resolve
from bot.settings.paths import Paths, config_file, state_paths
from bot.settings.registry import Separation
from bot.settings.tables import numbers
from bot.signals.config import problems as signal_problems
from bot.signals.rules import SignalRule
from gate.domain import PersonId, Risk, TargetId, TargetKind
from gate.policy import Catastrophic, Operator, Permission, Policy, Posture, Switches

_LOCAL_ONLY = {"local": TargetConfig(kind=TargetKind.LOCAL)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Everything that was set, resolved.

    Attributes:
        login: user of this machine that the process runs as.
        zone: the name of this machine's time zone, which an empty bot.timezone means.
        file: the config file that was read; None when there is none.
        policy: what the gate decides by; its revision is the digest of its content.
        floor: kill switches that the config sets; what chat sets can only add to them (D19).
        places: what people call a place, and where it is, as `bot.places.parse` reads it.
        values: every registered setting with its origin.
        adapters: what stands under `[adapters.NAME]`, as it stands; bot.surfaces reads it.
        signal_rules: what labels of alerts mean, in their order.
        agents: who may ask from outside; their secrets are read when they are let in (bot.delegates.keys).
        people_from, targets_from: where operators and targets come from, for people.
        rehearsal: throwaway state, `local` only, and `/as` exists (D1).
        layers: what file, environment and flags say, which `values` is made of.
    """

    paths: Paths
    login: str
    zone: str
    file: Path | None
    policy: Policy
    floor: Switches
    targets: Mapping[str, TargetConfig]
    services: Mapping[str, ServiceConfig]
    values: Mapping[str, Resolved]
    people_from: str
    targets_from: str
    places: Mapping[str, str] = field(default_factory=dict)
    adapters: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    signal_rules: tuple[SignalRule, ...] = ()
    agents: Mapping[str, AgentConfig] = field(default_factory=dict)
    rehearsal: bool = False
    layers: Mapping[Layer, Mapping[str, Candidate]] = field(default_factory=dict, repr=False)

    def number(self, key: str) -> int:
        """Return a setting that holds a number."""
        value = self.values[key].value
        if not isinstance(value, int):
            raise TypeError(f"{key} holds no number")
        return value

    def text(self, key: str) -> str:
        """Return a setting that holds text or a word of a list."""
        value = self.values[key].value
        if not isinstance(value, str):
            raise TypeError(f"{key} holds no text")
        return value

    def operator_of(self, account: str) -> Operator | None:
        """Return the person whom "platform:tenant:user" belongs to."""
        return next((person for person in self.policy.operators if account in person.accounts), None)

    def with_runtime(self, said: Mapping[str, Candidate]) -> "Config":
        """Return this config with `said` as its runtime layer; safety keys only ever get tighter by it."""
        layers = {**self.layers, Layer.RUNTIME: said}
        values = resolve(layers)
        return replace(
            self,
            values=values,
            policy=_policy(values, self.policy.operators, routing_of(self.policy)),
            floor=_floor(values),
            layers=layers,
        )


def for_process(
    *, config: Path | None = None, state: Path | None = None, flags: Sequence[str] = ()
) -> Config:
    """Load the config for this process: its environment, its user, and what its command line says.

    Args:
        config: --config, before $SAYSO_CONFIG.
        state: --state, before $SAYSO_HOME.
        flags: "key=value" strings of --set.

    Raises:
        ConfigError: with every problem found.
    """
    environ, home = dict(os.environ), Path.home()
    if config is not None:
        environ["SAYSO_CONFIG"] = str(config)
    if state is not None:
        environ["SAYSO_HOME"] = str(state)
    file, explicit = config_file(environ, home)
    return load(
        file=file if explicit or file.exists() else None,
        environ=environ,
        flags=flags,
        login=login_name(os.geteuid()),
        zone=machine_zone(environ),
        paths=state_paths(environ, home),
    )


def local_account(login: str) -> str:
    """Return the account key of a user of this machine, as its console and its socket vouch for it."""
    return f"console::{login}"


def rehearsal(config: Config, *, scratch: Path) -> Config:
    """Return `config` as a rehearsal: state in `scratch`, `local` only, everybody speaks on this console."""
    people = tuple(
        replace(person, accounts=tuple(dict.fromkeys((*person.accounts, local_account(person.id)))))
        for person in config.policy.operators
    )
    return replace(
        config,
        paths=Paths(scratch),
        policy=_policy(config.values, people, {}),
        targets=_LOCAL_ONLY,
        services={},
        places={},
        agents={},
        signal_rules=(),
        targets_from="rehearsal",
        rehearsal=True,
    )


def load(
    *,
    file: Path | None,
    environ: Mapping[str, str],
    flags: Sequence[str],
    login: str,
    paths: Paths,
    zone: str = "UTC",
) -> Config:
    """Put the layers together; see `for_process`. `zone` is this machine's, by name."""
    document = _read(file)
    problems: list[Problem] = []
    layers = {
        Layer.FILE: {
            key: Candidate(layer=Layer.FILE, where=str(file), value=value)
            for key, value in document.settings.items()
        },
        Layer.ENVIRONMENT: strings.from_environment(environ, problems),
        Layer.FLAG: strings.from_flags(flags, problems),
    }
    where = str(file) if file else ""
    problems += checks.people_problems(document.operators, where, login=login)
    values = resolve(layers)
    targets = document.targets or _LOCAL_ONLY
    problems += checks.zone_problems(values)
    problems += checks.metrics_problems(values)
    problems += checks.name_problems(targets, document.operators, values, where)
    problems += checks.routing_problems(document.routing, targets, where)
    problems += checks.place_problems(document.places, document.adapters, values, where)
    problems += signal_problems(
        document.signal_rules,
        place=str(values["signals.place"].value),
        targets=targets,
        places=document.places,
        adapters=document.adapters,
        where=where,
    )
    problems += _agent_problems(document, targets, where, login=login)
    if problems:
        raise ConfigError(problems)
    operators = _operators(document.operators) or (_owner(login),)
    return Config(
        paths=paths,
        login=login,
        zone=zone,
        file=file,
        policy=_policy(values, operators, document.routing),
        floor=_floor(values),
        targets=targets,
        services=document.services,
        values=values,
        people_from=f"file {where}" if document.operators else "default",
        targets_from=f"file {where}" if document.targets else "default",
        places=document.places,
        adapters=document.adapters,
        agents=document.agents,
        signal_rules=tuple(one.rule() for one in document.signal_rules),
        layers=layers,
    )


def _read(file: Path | None) -> Document:
    if file is None:
        return Document()
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError([Problem(where=str(file), key="", what=f"cannot be read: {error}.")]) from None
    return parse(text, file=str(file))


def _agent_problems(
    document: Document, targets: Mapping[str, TargetConfig], where: str, *, login: str
) -> Iterable[Problem]:
    people: dict[str, Sequence[str]] = {name: one.accounts for name, one in document.operators.items()}
    tags = dict.fromkeys(f"@{tag}" for target in targets.values() for tag in target.tags)
    return agent_problems(
        document.agents,
        people=people or {login: [local_account(login)]},
        targets=[*targets, *tags],
        places=document.places,
        adapters=document.adapters,
        where=where,
    )


# ---------------------------------------------------------------- people


def _owner(login: str) -> Operator:
    """Return the user of this machine, who owns an unconfigured sayso and may approve everything."""
    return Operator(
        id=PersonId(login),
        accounts=(local_account(login),),
        roles=("owner",),
        may=(Permission(risk=Risk.DESTRUCTIVE, targets=("*",)),),
    )


def _operators(people: Mapping[str, OperatorConfig]) -> tuple[Operator, ...]:
    return tuple(
        Operator(
            id=PersonId(name),
            accounts=person.accounts,
            roles=person.roles,
            may=tuple(Permission(risk=line.risk, targets=line.targets) for line in person.may),
            timezone=person.timezone,
            quiet=_quiet(person.quiet),
        )
        for name, person in people.items()
    )


def _quiet(text: str) -> tuple[time, time] | None:
    """Return the ends of "22:00-07:00"; None for ""."""
    start, _, end = text.partition("-")
    return (time.fromisoformat(start), time.fromisoformat(end)) if text else None


# ---------------------------------------------------------------- what the gate takes


def _policy(
    values: Mapping[str, Resolved], operators: tuple[Operator, ...], routing: Mapping[str, str]
) -> Policy:
    def number(key: str) -> int:
        return int(str(values[f"policy.{key}"].value))

    separate = {Separation.NEVER: False, Separation.AUTO: None, Separation.ALWAYS: True}
    policy = Policy(
        posture=Posture(str(values["policy.posture"].value)),
        catastrophic=Catastrophic(str(values["policy.catastrophic"].value)),
        operators=operators,
        separate_requester=separate[Separation(str(values["policy.separate_requester"].value))],
        approval_s=number("approval_s"),
        clarification_s=number("clarification_s"),
        start_within_s=number("start_within_s"),
        force_approval_at=number("force_approval_at") or None,
        bare_ack_grants=values["policy.bare_ack_grants"].value is True,
        routes=tuple((name, place) for name, place in routing.items() if name != ESCALATION),
        escalation=routing.get(ESCALATION, ""),
        nudge_s=number("nudge_s"),
        escalate_s=number("escalate_s"),
        ladder=tuple(numbers(_lines(values["policy.ladder"])).items()),
        quorum=tuple(numbers(_lines(values["policy.quorum"])).items()),
    )
    content = json.dumps(asdict(policy), sort_keys=True, default=str).encode()
    return replace(policy, revision=hashlib.sha256(content).hexdigest())


def routing_of(policy: Policy) -> dict[str, str]:
    """Return the [routing] table that `policy` was made of."""
    return dict(policy.routes) | ({ESCALATION: policy.escalation} if policy.escalation else {})


def _lines(resolved: Resolved) -> tuple[str, ...]:
    return resolved.value if isinstance(resolved.value, tuple) else ()


def _floor(values: Mapping[str, Resolved]) -> Switches:
    never = values["policy.never_auto_act"].value
    return Switches(
        stopped=values["policy.stopped"].value is True,
        auto_off=values["policy.auto_act"].value is not True,
        approve_everything=values["policy.approve_everything"].value is True,
        never_auto_act=tuple(TargetId(name) for name in never) if isinstance(never, tuple) else (),
    )


def machine_zone(environ: Mapping[str, str], link: Path = Path("/etc/localtime")) -> str:
    """Return the name of this machine's time zone; "UTC" where it has none that is known by name."""
    named = environ.get("TZ", "").lstrip(":") or str(link.resolve()).rpartition("/zoneinfo/")[2]
    return named if named in available_timezones() else "UTC"
