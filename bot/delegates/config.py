"""What `[agents.NAME]` may hold, and what is wrong with it, without reading any other file.

The rules it owns: an agent is no operator by any name or login, and works for one at most; with no target
named it may touch none.
"""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from bot.settings.errors import Problem, unknown
from gate.domain import Risk
from gate.resolve.decision import Act

#: The group of all that is named.
EVERY = "*"
_CONSOLE = "console"


def _instant(text: str) -> str:
    if text:
        instant(text)
    return text


def instant(text: str) -> datetime:
    """Return the instant that a date or a time of the config means; a date means its end, in UTC.

    Raises:
        ValueError: it is none; says what to write.
    """
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(
            f'"{text}" is no date. Write one such as 2027-01-31, or a time with its zone'
        ) from None
    if len(text) == len("2027-01-31"):
        found = found.replace(hour=23, minute=59, second=59)
    return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)


class AgentConfig(BaseModel):
    """One agent that may ask.

    Attributes:
        place: where its cards stand: a name of [places], or "platform:tenant:channel".
        token_file: a file with its secret, or with "sha256:" and the digest of it.
        login: the user of this machine that it runs as, known by the kernel's word; "" for none.
        for_: the operator it works for.
        targets: names, "@tag" or "*".
        expires: the last day, or the instant, of its permission.
        reads: whether what it reads at once shows a card.
    """

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)
    place: str
    token_file: str = ""
    login: str = ""
    for_: str = Field(default="", alias="for")
    max_risk: Risk = Risk.CONFIG_MUTATION
    targets: tuple[str, ...] = ()
    denied: tuple[Act, ...] = ()
    per_hour: Annotated[int, Field(ge=1, le=10_000)] = 60
    pending: Annotated[int, Field(ge=1, le=100)] = 5
    expires: Annotated[str, AfterValidator(_instant)] = ""
    reads: Literal["shown", "quiet"] = "shown"


def problems(
    agents: Mapping[str, AgentConfig],
    *,
    people: Mapping[str, Iterable[str]],
    targets: Iterable[str],
    places: Mapping[str, str],
    adapters: Iterable[str],
    where: str,
) -> Iterable[Problem]:
    """Find what keeps an agent from being let in as it says.

    Args:
        people: operators and their accounts.
        targets: names and "@tags".
        adapters: the chat platforms that are on.
    """
    targets, platforms = list(targets), [_CONSOLE, *adapters]
    accounts = {account: name for name, listed in people.items() for account in listed}
    logins: dict[str, str] = {}
    for name, one in agents.items():
        for key, what in (
            *_of_names(name, one, people=people, accounts=accounts),
            *_of_reach(one, targets=targets, places=places, platforms=platforms),
        ):
            yield Problem(where=where, key=f"agents.{name}{key}", what=what)
        if one.login and one.login in logins:
            what = f"{one.login} is the login of agent {logins[one.login]} already. A login is one agent's."
            yield Problem(where=where, key=f"agents.{name}.login", what=what)
        logins[one.login] = name


def _of_names(
    name: str, one: AgentConfig, *, people: Mapping[str, object], accounts: Mapping[str, str]
) -> Iterable[tuple[str, str]]:
    if name in people:
        yield "", f"{name} is an operator already. An agent needs a name of its own."
    if one.for_ and one.for_ not in people:
        yield ".for", f'"{one.for_}": {unknown("operator", one.for_, people)}'
    if (account := f"{_CONSOLE}::{one.login}") in accounts and one.login:
        whose = accounts[account]
        what = f"{one.login} is {whose}'s login, and whatever runs under it can approve as {whose}."
        yield ".login", f"{what} Give the agent a login of its own."
    if not one.token_file and not one.login:
        yield "", "it has neither token_file nor login, so nobody can be known to be it."


def _of_reach(
    one: AgentConfig, *, targets: list[str], places: Mapping[str, str], platforms: list[str]
) -> Iterable[tuple[str, str]]:
    for spoken in one.targets:
        if spoken != EVERY and spoken not in targets:
            yield ".targets", f'"{spoken}": {unknown("target or tag", spoken, targets)}'
    address = places.get(one.place, one.place)
    parts = address.split(":")
    if len(parts) not in (3, 4) or not parts[0] or not parts[2]:
        yield ".place", f'"{one.place}": {unknown("place", one.place, places)}'
    elif parts[0] not in platforms:
        yield ".place", f"{parts[0]} is not switched on, so nothing gets there. Add [adapters.{parts[0]}]."
