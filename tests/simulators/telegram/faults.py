"""Ways in which one call goes wrong."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from aiohttp import web

from tests.simulators.telegram.limits import RefusedError

Step = Callable[[web.Request], Awaitable[None]]


@dataclass(frozen=True, kw_only=True)
class Fault:
    """What happens before a call is performed, after it, and what is answered instead."""

    before: Step | None = None
    after: Step | None = None
    body: bytes | None = None
    status: int = 200


def refused(code: int, description: str, **parameters: int) -> Fault:
    """The call is not performed."""

    async def before(_request: web.Request) -> None:
        raise RefusedError(code, description, dict(parameters))

    return Fault(before=before)


def flood(retry_after: int) -> Fault:
    """429."""
    return refused(429, f"Too Many Requests: retry after {retry_after}", retry_after=retry_after)


def too_old() -> Fault:
    return refused(400, "Bad Request: query is too old and response timeout expired or query ID is invalid")


def gateway() -> Fault:
    """502 from something in between; nobody knows whether the call was performed."""
    return Fault(body=b"<html>502 Bad Gateway</html>", status=502)


def nonsense() -> Fault:
    """Performed, and answered with what is no JSON."""
    return Fault(body=b"<html>hello</html>")


def reset(*, performed: bool) -> Fault:
    """The connection breaks, before or after the call was performed."""
    return Fault(after=_break) if performed else Fault(before=_break)


async def _break(request: web.Request) -> None:
    assert request.transport is not None
    request.transport.abort()
    await asyncio.sleep(0)
    raise ConnectionResetError


def held(let: asyncio.Event, *, performed: bool = True) -> Fault:
    """The answer waits for `let`; a client that does not wait so long gives up."""

    async def step(_request: web.Request) -> None:
        await let.wait()

    return Fault(after=step) if performed else Fault(before=step)
