"""Web: calls of Slack's Web API, and what their failures mean.

Says of every failure whether something may have been shown. Repeats a call only where Slack said that it did
not take it (429, and a short wait); a lost answer is never repeated here. Knows no card and no core.
"""

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import aiohttp
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.http_retry.builtin_async_handlers import AsyncRateLimitErrorRetryHandler
from slack_sdk.http_retry.request import HttpRequest
from slack_sdk.http_retry.response import HttpResponse
from slack_sdk.http_retry.state import RetryState
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.ports import BusyError, RejectedError, UncertainError

log = logging.getLogger(__name__)

Json = dict[str, Any]

#: The SDKs log payloads and addresses that hold tickets; this package says itself what matters.
QUIET = logging.getLogger("adapters.slack.sdk")
QUIET.setLevel(logging.CRITICAL)

#: Longest wait that is sat out within a call; a longer one is the caller's to plan with.
_SHORT_WAIT_S = 3
_UPLOAD_TRIES = 3
#: When to try again where Slack does not say.
_AGAIN_S = 5.0

#: Errors that nothing but a person cures, with what to do.
PERMANENT = {
    "account_inactive": "The app was removed from the workspace. Install it again and renew the bot token.",
    "invalid_auth": "Slack does not know the token. Copy it again from api.slack.com/apps.",
    "missing_scope": "The app lacks a scope. Paste the manifest again (sayso slack manifest) and reinstall.",
    "no_permission": "The app may not do this. Paste the manifest (sayso slack manifest) and reinstall.",
    "not_allowed_token_type": "The two tokens are swapped: xoxb- is the bot token, xapp- the app token.",
    "not_authed": "Slack got no token. Look at the token files in [adapters.slack].",
    "org_login_required": "The workspace moved to an organisation. Install the app again.",
    "team_access_not_granted": "The app is not installed in this workspace. Install it again.",
    "token_expired": "The token has expired. Turn token rotation off, reinstall and copy the new token.",
    "token_revoked": "The token was revoked. Reinstall the app and copy the new token.",
    "apps_not_enabled_for_socket_mode": "Socket Mode is off. Turn it on at api.slack.com/apps, Socket Mode.",
    "forbidden_team": "Slack has closed this workspace to the app.",
}
#: Errors that say nothing about whether something was shown.
_UNSURE = frozenset({"fatal_error", "internal_error", "service_unavailable"})
_BUSY = frozenset({"ratelimited", "rate_limited", "team_added_to_org"})

#: Faults in which no request can have reached Slack.
_NOT_SENT = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError, aiohttp.InvalidURL)


def closed() -> BusyError:
    """Return what is raised once the port is closed: nothing is refused, the next process shows it."""
    return BusyError("the Slack adapter is closed", retry_after_s=5.0)


class ShortWaits(AsyncRateLimitErrorRetryHandler):
    """Sits out a short 429 within the call; a long one is left to whoever can plan."""

    async def _can_retry_async(
        self,
        *,
        state: RetryState,  # noqa: ARG002 - of the SDK, as are the next
        request: HttpRequest,  # noqa: ARG002
        response: HttpResponse | None = None,
        error: Exception | None = None,  # noqa: ARG002
    ) -> bool:
        if response is None or response.status_code != 429:  # noqa: PLR2004 - the status has no better name
            return False
        return retry_after_s(response.headers) <= _SHORT_WAIT_S


class Web:
    """The Web API with one bot token.

    `on_permanent` is told of every error that leaves the token useless.

    Args:
        url: base address.
        timeout_s: seconds after which an answer is given up.
    """

    def __init__(self, *, token: str, url: str, timeout_s: int = 15) -> None:
        self._session: aiohttp.ClientSession | None = None
        self._timeout_s = timeout_s
        self.closed = False
        self.client = AsyncWebClient(
            token=token,
            base_url=url,
            timeout=timeout_s,
            logger=QUIET,
            # NOTE: the default handler sends a request again after a reset, and so posts twice.
            retry_handlers=[ShortWaits(max_retry_count=2)],
        )
        self.on_permanent: Callable[[str], None] = lambda _error: None

    async def call(self, ask: Callable[[AsyncWebClient], Awaitable[AsyncSlackResponse]]) -> Json:
        """Make a call; return what Slack answered.

        Raises:
            RejectedError: Slack took nothing; BusyError when later will do.
            UncertainError: it may have.
        """
        if self.closed:
            raise closed()
        self._open()
        try:
            answer = await ask(self.client)
        except SlackApiError as error:
            raise self._refused(error) from error
        except _NOT_SENT as error:
            raise BusyError(
                f"Slack cannot be reached: {type(error).__name__}", retry_after_s=_AGAIN_S
            ) from error
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            raise UncertainError(f"no answer from Slack: {type(error).__name__}") from error
        except (SlackClientError, ValueError) as error:
            raise UncertainError(f"an answer nobody can read from Slack: {type(error).__name__}") from error
        return answer.data if isinstance(answer.data, dict) else {}

    async def scopes(self) -> tuple[Json, frozenset[str]]:
        """Return what auth.test says, and the scopes that the token has.

        Raises:
            RejectedError, UncertainError: see `call`.
        """
        headers: dict[str, str] = {}

        async def ask(client: AsyncWebClient) -> AsyncSlackResponse:
            answer = await client.auth_test()
            headers.update({name.lower(): value for name, value in answer.headers.items()})
            return answer

        told = await self.call(ask)
        return told, frozenset(filter(None, headers.get("x-oauth-scopes", "").replace(" ", "").split(",")))

    async def pages(
        self, ask: Callable[[AsyncWebClient, str], Awaitable[AsyncSlackResponse]], *, most: int
    ) -> AsyncIterator[tuple[list[Json], bool]]:
        """Yield (messages, whether these are the last) of at most `most` pages of a listing.

        Raises:
            RejectedError, UncertainError: see `call`.
        """
        cursor = ""
        for _ in range(most):
            here = cursor
            told = await self.call(lambda client, here=here: ask(client, here))  # type: ignore[misc]
            cursor = str((told.get("response_metadata") or {}).get("next_cursor") or "")
            yield list(told.get("messages") or ()), not cursor
            if not cursor:
                return

    async def upload(self, files: list[tuple[str, bytes]], *, channel: str, thread: str) -> None:
        """Put files into a conversation.

        Raises:
            RejectedError: they are not all there.
        """
        uploads = [{"filename": name, "title": name, "content": content or b"\n"} for name, content in files]
        for tries_left in reversed(range(_UPLOAD_TRIES)):
            try:
                await self.call(
                    lambda client: client.files_upload_v2(
                        file_uploads=uploads, channel=channel, thread_ts=thread or None
                    )
                )
            except UncertainError as error:
                # A file that is there twice harms nobody; one that is not there keeps a card back.
                if not tries_left:
                    raise RejectedError(f"{files[0][0]} was not uploaded: {error}") from error
            else:
                return

    async def close(self) -> None:
        """End every connection."""
        self.closed = True
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    def _open(self) -> None:
        """Keep one session for all calls: a call need not wait for a handshake."""
        if self._session is None:
            self._session = aiohttp.ClientSession(
                timeout=aiohttp.ClientTimeout(total=self._timeout_s, sock_connect=5)
            )
            self.client.session = self._session

    def _refused(self, error: SlackApiError) -> Exception:
        data = error.response.data if isinstance(error.response.data, dict) else {}
        name, status = str(data.get("error") or "?"), error.response.status_code
        if status == 429 or name in _BUSY:  # noqa: PLR2004 - as above
            return BusyError(f"Slack: {name}", retry_after_s=retry_after_s(error.response.headers))
        if status >= 500 or name in _UNSURE or name == "?":  # noqa: PLR2004 - as above
            return UncertainError(f"Slack: {name} (HTTP {status})")
        if name in PERMANENT and name not in {"missing_scope", "no_permission"}:
            self.on_permanent(name)
        details = "; ".join(str(one) for one in (data.get("response_metadata") or {}).get("messages") or ())
        return SlackRefusedError(name, details)


class SlackRefusedError(RejectedError):
    """Slack refused a call and said why: `name` is its word for it."""

    def __init__(self, name: str, details: str = "") -> None:
        super().__init__(f"Slack: {name}{f' ({details})' if details else ''}")
        self.name = name


def retry_after_s(headers: Any) -> float:  # noqa: ANN401 - a mapping of either library
    """Return the seconds to wait that a 429 names; 5 where it names none."""
    for name, value in headers.items():
        if name.lower() == "retry-after":
            try:
                return float(value[0] if isinstance(value, list) else value)
            except ValueError:
                break
    return _AGAIN_S
