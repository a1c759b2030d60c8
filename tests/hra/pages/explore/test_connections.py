"""Connections of the live page: requests that do not arrive keep nobody out."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator

import pytest

uvicorn = pytest.importorskip("uvicorn")
pytest.importorskip("starlette")
pytest.importorskip("python_multipart")

from hra.pages.explore import connections  # noqa: E402
from hra.pages.explore.server import Asked, application  # noqa: E402


@pytest.fixture
def port() -> Iterator[int]:
    """A server that runs."""
    place = socket.create_server(("127.0.0.1", 0))
    running = uvicorn.Server(connections.settings(application(lambda asked: "the page", Asked())))
    thread = threading.Thread(target=running.run, kwargs={"sockets": [place]}, daemon=True)
    thread.start()
    while not running.started:
        time.sleep(0.01)
    yield place.getsockname()[1]
    running.should_exit = True
    thread.join(timeout=20)
    assert not thread.is_alive()


def _connected(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=20)


def _page(port: int) -> bytes:
    with _connected(port) as one:
        one.sendall(f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n".encode())
        return b"".join(iter(lambda: one.recv(65536), b""))


def _is_closed(one: socket.socket) -> bool:
    try:
        return one.recv(9) == b""
    except ConnectionResetError:  # of one that had sent what nobody has read
        return True


_FORM = """POST / HTTP/1.1\r
Host: 127.0.0.1:{port}\r
Origin: http://127.0.0.1:{port}\r
Content-Type: application/x-www-form-urlencoded\r
Content-Length: 99\r
\r
query=a"""


@pytest.mark.parametrize("half", ["GET / HTTP/1.1\r\nHost: ", _FORM])
def test_requests_that_are_sent_in_halves_keep_nobody_out(
    half: str, port: int, caplog: pytest.LogCaptureFixture
) -> None:
    slow = []
    for _ in range(140):
        slow.append(_connected(port))
        slow[-1].sendall(half.format(port=port).encode())
    for _ in range(3):
        assert b"the page" in _page(port)
    assert _is_closed(slow[0])  # who waited longest made room
    assert not [record for record in caplog.records if record.levelname == "ERROR"]
    for one in slow:
        one.close()


def test_a_head_that_is_late_ends_its_connection(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "_HEAD_SECONDS", 0.3)
    with _connected(port) as silent, _connected(port) as dripping:
        began = time.monotonic()
        while time.monotonic() - began < 10:
            try:
                dripping.sendall(b"G")
            except OSError:
                break
            time.sleep(0.05)
        assert time.monotonic() - began < 10
        assert _is_closed(silent)


def test_a_second_request_on_a_connection_is_answered_and_a_third_may_not_be_late(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "_HEAD_SECONDS", 1.0)
    with _connected(port) as one:
        for _ in range(2):
            one.sendall(f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
            got = b""
            while b"the page" not in got:
                got += one.recv(65536)
        one.sendall(b"GET / HT")
        assert _is_closed(one)
