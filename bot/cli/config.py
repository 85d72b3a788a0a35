"""`sayso config check` and `show`: whether the config can be used, and where each value comes from.

It shows no secrets: settings hold none, they name files (D24).
"""

import argparse
from typing import TYPE_CHECKING

from bot.cli.options import Subparsers, common, config_from, print_json

if TYPE_CHECKING:
    from bot.settings.config import Config
    from bot.settings.layers import Candidate


def register(subparsers: Subparsers) -> None:
    """Add the commands."""
    verbs = subparsers.add_parser("config", help="check or show the config").add_subparsers(
        metavar="verb", required=True
    )
    check = verbs.add_parser("check", parents=[common()], help="find what is wrong with it")
    check.set_defaults(run=_check)
    show = verbs.add_parser("show", parents=[common()], help="each value, its origin, what it displaced")
    show.add_argument("--json", action="store_true", help="as one JSON object")
    show.set_defaults(run=_show)


def _check(args: argparse.Namespace) -> int:
    from bot import surfaces  # noqa: PLC0415  # lazy: imports what is switched on
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
    print(f"places: {', '.join(config.places) or 'none named'}")
    print(f"operators: {people} · targets: {len(config.targets)} · posture: {config.policy.posture}")
    if rule_files(config):
        print(f"rules of your own: {', '.join(map(str, rule_files(config)))}")
    targets = inventory.targets.values()
    for warning in (*lone_deciders(config.policy, targets), *small_quorums(config.policy, targets)):
        print(f"warning: {warning}")
    return 0


def _show(args: argparse.Namespace) -> int:
    from bot.settings.config import routing_of  # noqa: PLC0415  # lazy: as the rest

    config = config_from(args)
    if args.json:
        print_json(_as_json(config))
        return 0
    width = max(map(len, config.values))
    for key, resolved in config.values.items():
        displaced = "".join(f"; displaced {_words(other)}" for other in resolved.displaced)
        print(f"{key:<{width}}  {_plain(resolved.value)}  ({resolved.why}{displaced})")
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


def _words(candidate: "Candidate") -> str:
    where = f" {candidate.where}" if candidate.where else ""
    return f"{candidate.layer}{where} {_plain(candidate.value)}"


def _plain(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return f"[{', '.join(map(str, value))}]"
    return str(value) or '""'


def _as_json(config: "Config") -> dict[str, object]:
    def said(candidates: "tuple[Candidate, ...]") -> list[dict[str, object]]:
        return [{"layer": c.layer, "where": c.where, "value": c.value} for c in candidates]

    settings = {
        key: {
            "value": resolved.value,
            "scope": resolved.setting.scope,
            "safety": resolved.setting.tightest is not None,
            "origin": said(resolved.origin),
            "displaced": said(resolved.displaced),
        }
        for key, resolved in config.values.items()
    }
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
