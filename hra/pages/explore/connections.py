"""Connections to the live page: whoever does not finish a request keeps nobody else out."""

from __future__ import annotations

import asyncio
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

# From so many on, who waits makes room; a browser opens about six. From the second number on all are answered with 503:
# it leaves some time to those that end, whose work uvicorn counts until it has ended, too.
_MOST, _TOO_MANY = 64, 128
_HEAD_SECONDS = 10.0  # for the head of a request to arrive, from its first moment on


def settings(program: Any) -> uvicorn.Config:
    """How uvicorn serves ``program``."""
    return uvicorn.Config(
        program, http=Connection, log_level="warning", limit_concurrency=_TOO_MANY, timeout_keep_alive=5, ws="none"
    )


class Connection(H11Protocol):
    """A connection that ends where the head of a request is not there in time.

    Uvicorn counts all that are open and waits for a head without end. Where too many are open, the one that has
    waited longest for the rest of a request makes room for a new one.
    """

    _late: asyncio.TimerHandle | None = None
    _since: float | None = None  # when it began to wait for a request, until all of that is there

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Wait for a head; let go of another one where there are too many."""
        super().connection_made(transport)
        self._watch()
        others = [other for other in self.connections if isinstance(other, Connection) and other is not self]
        waiting = [(other._since, number) for number, other in enumerate(others) if other._since is not None]
        if len(self.connections) >= _MOST and waiting:
            others[min(waiting)[1]].let_go()

    def data_received(self, data: bytes) -> None:
        """Read on; what is complete is not late."""
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        """Wait for the next head."""
        super().on_response_complete()
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing."""
        self._stop()
        super().connection_lost(exc)

    def let_go(self) -> None:
        """Close it; it counts no longer."""
        self._stop()
        self.connections.discard(self)
        self.transport.close()

    def _watch(self) -> None:
        awaited = self.conn.their_state
        if awaited not in (h11.IDLE, h11.SEND_BODY) or self.transport.is_closing():
            self._stop()
            return
        self._since = self.loop.time() if self._since is None else self._since
        if awaited is h11.SEND_BODY:  # for which the program itself waits
            self._no_timer()
        elif self._late is None:
            self._late = self.loop.call_later(_HEAD_SECONDS, self.let_go)

    def _stop(self) -> None:
        self._since = None
        self._no_timer()

    def _no_timer(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None
