"""The console's ChatPort: sessions in, messages out.

A session is a person at this machine: one on this process's own stdin, others over the socket. Every login is
a place of its own, so whoever has two windows open sees the same conversation in both. It decides nothing and
never says who speaks: the process's own user does, or the kernel, and `/as NAME` exists in a rehearsal only.
"""

import asyncio
import secrets
from collections.abc import Callable
from pathlib import Path

from adapters.console.front import FrontEnd, Said
from adapters.console.server import Server
from adapters.console.session import NAME, Session
from bot.ports import (
    Account,
    Capabilities,
    Clock,
    Greet,
    Health,
    Inbound,
    InboundKind,
    Message,
    MessageRef,
    NotCommittedError,
    PlaceRef,
    RejectedError,
    Sink,
    UncertainError,
)

_REHEARSAL = (
    "Rehearsal: commands do run, on this machine only; the record is thrown away at the end."
    " /as NAME lets somebody else speak."
)
_STOPPED = "sayso stops here. Start sayso chat again once it is back."


class ConsolePort:
    """The reference adapter.

    Args:
        login: the user of this machine whom the local session belongs to.
        front: shows and reads the local session; None for none. `listen` returns when its input ends.
        socket: where to let other sessions in; None for nowhere.
        admits: whether an account key ("console::ana") may connect to the socket.
        group: Unix group that may reach the socket; "" for this user only.
        rehearsal: `/as NAME` switches the local speaker (D1).
    """

    name = NAME
    capabilities = Capabilities(max_chars=20_000)

    def __init__(
        self,
        *,
        clock: Clock,
        login: str,
        front: FrontEnd | None = None,
        socket: Path | None = None,
        admits: Callable[[str], bool] = lambda _account: False,
        group: str = "",
        rehearsal: bool = False,
    ) -> None:
        self._clock = clock
        self._login = login
        self._front = front
        self._server = None if socket is None else Server(path=socket, group=group, admits=admits, port=self)
        self._rehearsal = rehearsal
        self._sessions: list[Session] = []
        self._sink: Sink | None = None
        self._closing = asyncio.Event()
        self.exit_code = 0
        #: Set by whoever composes the port with a core.
        self.greet: Greet | None = None

    async def listen(self, sink: Sink) -> None:
        """Take events until closed, or until the local input ends; then `exit_code` tells how it went."""
        local: asyncio.Task[None] | None = None
        if self._server is not None:
            await self._server.start()
        self._sink = sink
        try:
            if self._front is not None:
                local = asyncio.create_task(self._run_local(self._front))
                local.add_done_callback(lambda _task: self._closing.set())
            await self._closing.wait()
        finally:
            if self._server is not None:
                await self._server.stop(_STOPPED)
            if local is not None:
                local.cancel()
                await asyncio.wait([local])
            self._sink = None
        if local is not None and not local.cancelled():
            local.result()  # a fault of the front end is ours

    async def _run_local(self, front: FrontEnd) -> None:
        session = Session(login=self._login, screen=_LocalScreen(front))
        self.join(session)
        if self._rehearsal:
            front.hint(_REHEARSAL)
        try:
            await self.greeted(session)
            self.exit_code = await front.run(lambda said: self._local(session, said, front))
        finally:
            self.leave(session)

    async def _local(self, session: Session, said: Said, front: FrontEnd) -> "asyncio.Future[None]":
        if self._rehearsal and said.text.startswith("/as "):
            session.speaker = said.text.removeprefix("/as ").strip()
            front.hint(f"rehearsal: {session.account.user} speaks")
            return _done()
        try:
            return await self.hand_over(session, said)
        except NotCommittedError as error:
            front.hint(f"Not stored, so nothing was done. {error}")
            return _done()

    # ------------------------------------------------------------ sessions, also for the server

    def join(self, session: Session) -> None:
        """Let a session in."""
        self._sessions.append(session)

    async def greeted(self, session: Session) -> None:
        """Let the core show a session that joined what changed while nobody was there."""
        if self.greet is not None:
            await self.greet(session.place, session.account)

    def leave(self, session: Session) -> None:
        """Forget a session."""
        if session in self._sessions:
            self._sessions.remove(session)

    async def hand_over(self, session: Session, said: Said, *, event: str = "") -> "asyncio.Future[None]":
        """Give what a session said to the core; return what is done once its turn has ended.

        `event` is the client's id of it, by which a redelivery is known; "" makes one.

        Raises:
            NotCommittedError: it was not stored.
        """
        if self._sink is None:
            raise NotCommittedError("sayso is not listening")
        session.spoken += 1
        inbound = Inbound(
            event_id=f"{session.login}:{event}" if event else f"{session.nonce}:{session.spoken}",
            place=session.place,
            account=session.account,
            sent_at=self._clock.now(),
            kind=InboundKind.CLICK if said.token else InboundKind.MESSAGE,
            text=said.text,
            token=said.token,
            direct=True,
        )
        receipt = await self._sink(inbound)
        return receipt.settled

    # ------------------------------------------------------------ what the core calls

    async def post(self, place: PlaceRef, message: Message, *, nonce: str) -> MessageRef:
        """Show a message to everybody in `place`; a repeated nonce changes nothing that is on the screen."""
        await self._show(place, nonce, message)
        return MessageRef(place=place, message=nonce)

    async def find(self, place: PlaceRef, *, nonce: str) -> MessageRef | None:
        """Tell nothing: a screen is not remembered."""
        raise UncertainError(f"nobody knows whether {nonce} was shown in {place.channel}")

    async def edit(self, ref: MessageRef, message: Message) -> None:
        """Show what changed in a message."""
        await self._show(ref.place, ref.message, message)

    async def note(self, place: PlaceRef, account: Account, message: Message) -> None:
        """Show a message to one person in `place`."""
        await self._show(place, f"note:{secrets.token_hex(8)}", message, only=account.user)

    async def health(self) -> Health:
        """Tell whether anybody can be reached or can connect."""
        if self._sink is None:
            return Health(ok=False, detail="The console does not listen. Start sayso serve or sayso chat.")
        return Health(ok=True, detail=f"{len(self._sessions)} connected")

    async def close(self) -> None:
        """Stop listening; say so to whoever is connected."""
        self._closing.set()

    async def _show(self, place: PlaceRef, key: str, message: Message, *, only: str = "") -> None:
        reached = False
        for session in list(self._sessions):
            if session.place != place or (only and session.account.user != only):
                continue
            try:
                await session.screen.show(key, message)
                reached = True
            except ConnectionError:
                self.leave(session)
        if not reached:
            raise RejectedError(f"nobody is at the console of {only or place.channel}")


class _LocalScreen:
    """The front end of this process as a screen."""

    def __init__(self, front: FrontEnd) -> None:
        self._front = front

    async def show(self, key: str, message: Message) -> None:
        self._front.show(key, message)


def _done() -> "asyncio.Future[None]":
    future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    future.set_result(None)
    return future
