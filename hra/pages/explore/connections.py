"""Connections to the live page: whoever does not finish the head of a request keeps nobody else out."""

from __future__ import annotations

import asyncio
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

# More are answered with 503; a browser opens about six.
_MOST = 64
_HEAD_SECONDS = 10.0  # for the head of a request to arrive, from its first moment on


def settings(program: Any) -> uvicorn.Config:
    """How uvicorn serves ``program``."""
    return uvicorn.Config(
        program, http=Connection, log_level="warning", limit_concurrency=_MOST, timeout_keep_alive=5, ws="none"
    )


class Connection(H11Protocol):
    """A connection that ends where the head of a request is not there in time.

    Uvicorn counts all that are open and waits for a head without end. Where as many are open as may be, the one that
    has waited longest for its head makes room for a new one.
    """

    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Wait for a head; let go of another one where there are too many."""
        super().connection_made(transport)
        self._watch()
        others = [other for other in self.connections if isinstance(other, Connection) and other is not self]
        waiting = [(other._late.when(), number) for number, other in enumerate(others) if other._late is not None]
        if len(self.connections) >= _MOST and waiting:
            others[min(waiting)[1]].let_go()

    def data_received(self, data: bytes) -> None:
        """Read on; a head that is complete is not late."""
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
        if self.conn.their_state is not h11.IDLE:
            self._stop()
        elif self._late is None and not self.transport.is_closing():
            self._late = self.loop.call_later(_HEAD_SECONDS, self.let_go)

    def _stop(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None
