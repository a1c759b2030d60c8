"""The page with a live question, camera and image, for a browser on the same machine."""

from __future__ import annotations

import asyncio
import html
import logging
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from threading import BoundedSemaphore, Lock
from typing import Any

import h11
import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route
from uvicorn.protocols.http.h11_impl import H11Protocol

from hra.errors import HraError

# Other names for this machine in the header Host are another site's, whose name was made to lead here.
HOSTS = ["127.0.0.1", "localhost"]
MOST_BYTES = 32 * 2**20
MOST_LETTERS = 500
# Pages being made or waited for; more are refused. All who can reach the server share the address of this machine, so
# that one budget is that of each client and of all.
_MOST_WAITING = 4
_BODY_SECONDS = 20.0  # for a form to arrive; who is slower waits alone
# From so many on, who waits makes room; a browser opens about six. From the second number on all are answered with 503:
# it leaves some time to those that end, whose work uvicorn counts until it has ended, too.
_MOST, _TOO_MANY = 64, 128
_HEAD_SECONDS = 10.0  # for the head of a request to arrive, from its first moment on
_FORMS = ("multipart/form-data", "application/x-www-form-urlencoded")
_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; img-src data:; style-src 'unsafe-inline'; "
    "script-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Asked:
    """What the form says.

    Attributes
    ----------
    query : the question, at most `MOST_LETTERS`.
    azimuth, elevation : of the camera, degrees.
    image : the content of an uploaded file in place of the first image, or None.
    """

    query: str = ""
    azimuth: float = 30.0
    elevation: float = 10.0
    image: bytes | None = None

    def __post_init__(self) -> None:
        if len(self.query) > MOST_LETTERS:
            what = f"the question has {len(self.query):,} letters, at most {MOST_LETTERS} are read"
            raise HraError(what, where="query", fix="ask a shorter one")

    @classmethod
    def of(cls, fields: Mapping[str, Any], first: Asked, image: bytes | None = None) -> Asked:
        """The fields of a form; what it leaves out is as it was at ``first``.

        Raises
        ------
        HraError : an angle that is not a finite number within its range, a question that is too long.
        """
        azimuth = _angle("azimuth", fields.get("azimuth", first.azimuth), 360)
        elevation = _angle("elevation", fields.get("elevation", first.elevation), 89)
        return cls(str(fields.get("query", first.query)), azimuth, elevation, image)


def application(make: Callable[[Asked], str], first: Asked) -> Starlette:
    """The server's program: the first page is made here and served from memory, others only for forms of this page.

    Parameters
    ----------
    make : the page for what is asked; one at a time. An `HraError` becomes a message, anything else a line that says
        nothing of the inside.

    Raises
    ------
    HraError : of ``make``, for the first page.
    """
    opened, waiting, working = make(first), BoundedSemaphore(_MOST_WAITING), Lock()

    def made(asked: Asked) -> str:
        with working:
            return make(asked)

    async def show(request: Request) -> Response:
        return HTMLResponse(opened, headers=_HEADERS)

    async def answer(request: Request) -> Response:
        try:
            asked = await _asked(request, first)
            if not waiting.acquire(blocking=False):
                return message(503, HraError("too many pages are in work", fix="wait for those that were requested"))
            try:
                return HTMLResponse(await run_in_threadpool(made, asked), headers=_HEADERS)
            finally:
                waiting.release()
        except HraError as error:
            return message(400, error)
        except HTTPException:
            raise
        except ClientDisconnect:  # nobody reads the answer
            return Response()
        except Exception:
            _LOG.exception("a page could not be made")
            return message(500, HraError("the page could not be made", fix="see the terminal of the server"))

    return Starlette(
        routes=[Route("/", show, methods=["GET"]), Route("/", answer, methods=["POST"])],
        middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=HOSTS, www_redirect=False)],
        exception_handlers={HTTPException: _refused},
    )


def form(asked: Asked) -> str:
    """The controls above the page, with what was asked."""
    query = html.escape(asked.query, quote=True)
    return f"""<form method="post" enctype="multipart/form-data" class="asked" action="/">
<label>question <input name="query" value="{query}" maxlength="{MOST_LETTERS}"></label>
<label>azimuth <input name="azimuth" type="number" min="-360" max="360" step="any" value="{asked.azimuth:g}"></label>
<label>elevation
<input name="elevation" type="number" min="-89" max="89" step="any" value="{asked.elevation:g}"></label>
<label>another image <input name="image" type="file" accept="image/*"></label>
<button>allocate</button></form>"""


def message(status: int, error: HraError) -> HTMLResponse:
    """What is wrong, where, and what to do, as a page."""
    parts = {"error": error.what, "where": error.where, "fix": error.fix}
    lines = "".join(f"<p>{name}: {html.escape(text)}</p>" for name, text in parts.items() if text)
    page = f'<!doctype html><html lang="en"><meta charset="utf-8"><title>hra</title>{lines}<p><a href="/">back</a></p>'
    return HTMLResponse(page, status, headers=_HEADERS)


async def _asked(request: Request, first: Asked) -> Asked:
    """The form of a request that this page sent, of a stated length, and in time."""
    sites = request.headers.get("origin"), request.headers.get("sec-fetch-site", "same-origin")
    if sites != (f"http://{request.headers.get('host')}", "same-origin"):
        raise HraError("the form was not sent by this page", where="Origin, Sec-Fetch-Site", fix="open the page itself")
    # The HTTP parser holds the body to its length, unless it comes in chunks.
    length = "" if "transfer-encoding" in request.headers else request.headers.get("content-length", "")
    if not length.isdecimal() or int(length) > MOST_BYTES:
        what = f"the form must state a length of at most {MOST_BYTES // 2**20} MiB"
        raise HraError(what, where="Content-Length", fix="send a smaller file, or name it on the command line")
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in _FORMS:  # it would be read as a form without fields, and answered as if nothing had been asked
        what = f"a body of type {kind[:100]!r} is no form"
        raise HraError(what, where="Content-Type", fix=f"send {' or '.join(_FORMS)}")
    try:
        return await asyncio.wait_for(_form(request, first), _BODY_SECONDS)
    except TimeoutError as error:
        what = f"the form did not arrive within {_BODY_SECONDS:g} seconds"
        raise HraError(what, where="image", fix="send it again, or name the file on the command line") from error


async def _form(request: Request, first: Asked) -> Asked:
    async with request.form(max_files=1, max_fields=8, max_part_size=2**16) as fields:
        image = fields.get("image")
        content = await image.read() if isinstance(image, UploadFile) else b""
        if isinstance(image, UploadFile) and image.filename and not content:
            # Without a file browsers send one without a name; of this one the first image must not take the place.
            raise HraError("the uploaded image is empty", where=image.filename[:100], fix="choose another file")
        return Asked.of({key: value for key, value in fields.items() if key != "image"}, first, content or None)


def _angle(name: str, value: Any, most: float) -> float:
    try:
        angle = float(value)
    except (TypeError, ValueError):
        angle = math.nan
    if not abs(angle) <= most:
        raise HraError(f"{name} is not a number from -{most} to {most}", where=name, fix="write degrees, as in 30")
    return angle


async def _refused(request: Request, error: Exception) -> Response:
    status, reason = (error.status_code, error.detail) if isinstance(error, HTTPException) else (500, "")
    what = "this page does not exist" if status in (404, 405) else f"the form cannot be read: {reason}"
    return message(status, HraError(f"status {status}: {what}", fix="the page is at /"))


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
        if awaited is h11.SEND_BODY:  # for which `_asked` waits
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
