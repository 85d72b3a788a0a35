"""`sayso config check`, `show`, `get` and `explain`: whether it can be used, and where each value comes from.

What was set at run time is read from the ledger. It shows no secrets: settings hold none, they name files
(D24). What changes settings stands in `config_change`.
"""

import argparse
from typing import TYPE_CHECKING

from bot.cli import config_change
from bot.cli.options import Subparsers, common, config_from, print_json

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bot.settings.config import Config
    from bot.settings.layers import Candidate, Resolved


def register(subparsers: Subparsers) -> None:
    """Add the commands."""
    verbs = subparsers.add_parser("config", help="check, show or change the config").add_subparsers(
        metavar="verb", required=True
    )
    check = verbs.add_parser("check", parents=[common()], help="find what is wrong with it")
    check.set_defaults(run=_check)
    show = verbs.add_parser("show", parents=[common()], help="each value, its origin, what it displaced")
    show.add_argument("--json", action="store_true", help="as one JSON object")
    show.set_defaults(run=_show)
    for name, words in (
        ("get", "one value, its origin, what it displaced"),
        ("explain", "all about a setting"),
    ):
        one = verbs.add_parser(name, parents=[common()], help=words)
        one.add_argument("key")
        one.add_argument("--json", action="store_true", help="as one JSON object")
        one.set_defaults(run=_one, whole=name == "explain")
    config_change.register(verbs)


def _check(args: argparse.Namespace) -> int:
    from bot import surfaces  # noqa: PLC0415  # lazy: imports what is switched on
    from bot.inventory.passwords import lacking  # noqa: PLC0415  # lazy, as below
    from bot.settings.checks import lone_deciders, small_quorums  # noqa: PLC0415  # lazy: only this verb warns
    from bot.settings.inventory import inventory_of  # noqa: PLC0415  # lazy: brings rapidfuzz
    from bot.settings.rules import rule_files, rules_of  # noqa: PLC0415  # lazy: brings the rule grammar

    config = config_from(args)
    inventory = inventory_of(config)
    rules_of(config)
    surfaces.check(config)
    people = ", ".join(person.id for person in config.policy.operators)
    print(f"ok · {config.file or 'no config file, defaults'}")
    print(f"adapters: {', '.join(config.adapters) or 'none, the console only'}")
    print(f"agents: {', '.join(config.agents) or 'none'}")
    print(f"model: {_model(config)}")
    print(f"places: {', '.join(config.places) or 'none named'}")
    print(f"operators: {people} · targets: {len(config.targets)} · posture: {config.policy.posture}")
    if rule_files(config):
        print(f"rules of your own: {', '.join(map(str, rule_files(config)))}")
    targets = inventory.targets.values()
    warnings = (
        *lone_deciders(config.policy, targets),
        *small_quorums(config.policy, targets),
        *lacking(inventory.identifier.passwords),
    )
    for warning in warnings:
        print(f"warning: {warning}")
    return 0


def _model(config: "Config") -> str:
    provider, name = config.text("model.provider"), config.text("model.name")
    return (
        "off"
        if provider == "off"
        else f"{provider}:{name}, planner.autonomy {config.text('planner.autonomy')}"
    )


def _one(args: argparse.Namespace) -> int:
    from bot.lookup import settings  # noqa: PLC0415  # lazy: as the rest
    from bot.settings.errors import unknown  # noqa: PLC0415
    from bot.settings.explain import explained, line  # noqa: PLC0415

    values = settings(config_from(args)).all()
    resolved = values.get(args.key)
    if resolved is None:
        print(f"{args.key}: {unknown('setting', args.key, values)}")
        return 1
    if args.json:
        print_json({"key": args.key, **_value_as_json(resolved)})
    elif args.whole:
        print("\n".join(explained(resolved)))
    else:
        print(line(resolved))
    return 0


def _show(args: argparse.Namespace) -> int:
    from bot.lookup import settings  # noqa: PLC0415  # lazy: as the rest
    from bot.settings.config import routing_of  # noqa: PLC0415
    from bot.settings.explain import line  # noqa: PLC0415

    config = config_from(args)
    values = settings(config).all()
    if args.json:
        print_json(_as_json(config, values))
        return 0
    width = max(map(len, values))
    for key, resolved in values.items():
        print(f"{key:<{width}}  {line(resolved)}")
    people = ", ".join(person.id for person in config.policy.operators)
    print(f"{'operators':<{width}}  {people}  ({config.people_from})")
    print(f"{'targets':<{width}}  {', '.join(config.targets)}  ({config.targets_from})")
    routes = [f"{name} to {place}" for name, place in routing_of(config.policy).items()]
    print(f"{'routing':<{width}}  {', '.join(routes) or 'none'}")
    places = [f"{name} is {place}" for name, place in config.places.items()]
    print(f"{'places':<{width}}  {', '.join(places) or 'none'}")
    print(f"{'adapters':<{width}}  {', '.join(config.adapters) or 'none'}")
    print(f"{'services':<{width}}  {', '.join(config.services) or 'none'}")
    print(f"{'state folder':<{width}}  {config.paths.state}")
    print(f"{'policy revision':<{width}}  {config.policy.revision[:12]}")
    return 0


def _value_as_json(resolved: "Resolved") -> dict[str, object]:
    def said(candidates: "tuple[Candidate, ...]") -> list[dict[str, object]]:
        return [{"layer": c.layer, "where": c.where, "value": c.value} for c in candidates]

    lowered = {} if resolved.requested is None else {"requested": resolved.requested}
    return {
        "value": resolved.value,
        **lowered,
        **({"clamped_by": resolved.clamped_by} if lowered else {}),
        "scope": resolved.setting.scope,
        "hot": resolved.setting.hot,
        "safety": resolved.setting.tightest is not None,
        "origin": said(resolved.origin),
        "displaced": said(resolved.displaced),
    }


def _as_json(config: "Config", values: "Mapping[str, Resolved]") -> dict[str, object]:
    settings = {key: _value_as_json(resolved) for key, resolved in values.items()}
    return {
        "file": str(config.file) if config.file else None,
        "state": str(config.paths.state),
        "policy_revision": config.policy.revision,
        "settings": settings,
        "operators": {"value": [p.id for p in config.policy.operators], "origin": config.people_from},
        "targets": {"value": list(config.targets), "origin": config.targets_from},
        "places": {"value": dict(config.places)},
        "adapters": {"value": list(config.adapters)},
        "services": {"value": list(config.services)},
    }
