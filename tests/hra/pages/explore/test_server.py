"""The live page: only this machine, everything escaped, errors as messages, uploads limited."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator

import pytest

from hra.errors import HraError

pytest.importorskip("starlette")
pytest.importorskip("python_multipart")
pytest.importorskip("uvicorn")
import uvicorn
from starlette.testclient import TestClient

from hra.pages.explore import server
from hra.pages.explore.server import Asked, application, form

HERE = "http://127.0.0.1:8000"
ATTACK = '"><script>alert(1)</script>'


@pytest.fixture
def seen() -> list[Asked]:
    return []


@pytest.fixture
def client(seen: list[Asked]) -> TestClient:
    def make(asked: Asked) -> str:
        seen.append(asked)
        if asked.query == "refuse":
            raise HraError(f"no {ATTACK}", where="there", fix="ask otherwise")
        if asked.query == "break":
            raise RuntimeError("secret /root/path")
        return form(asked)

    program = application(make, Asked("first"))
    assert seen == [Asked("first")]
    seen.clear()
    return TestClient(program, base_url=HERE, raise_server_exceptions=False, headers={"Origin": HERE})


def test_opening_the_page_starts_no_work(client, seen):
    for url in ("/", "/?query=another&azimuth=50"):
        answer = client.get(url, headers={"Origin": "http://evil.example", "Sec-Fetch-Site": "cross-site"})
        assert answer.status_code == 200 and 'value="first"' in answer.text
    assert not seen


def test_the_page_is_made_for_what_the_form_says(client, seen):
    answer = client.post("/", data={"query": "what is red?", "azimuth": "40", "elevation": "-5"})
    assert answer.status_code == 200 and "what is red?" in answer.text
    assert seen == [Asked("what is red?", 40.0, -5.0)]


def test_an_uploaded_image_reaches_the_page(client, seen):
    client.post("/", data={"query": "x"}, files={"image": ("a.png", b"content", "image/png")})
    assert seen[-1] == Asked("x", image=b"content")


def test_a_form_without_a_file_has_no_image(client, seen):
    client.post("/", data={"query": "x"}, files={"image": ("", b"", "application/octet-stream")})
    assert seen[-1].image is None


def test_a_file_without_content_is_not_taken_for_none(client, seen):
    answer = client.post("/", data={"query": "x"}, files={"image": ("a.png", b"", "image/png")})
    assert answer.status_code == 400 and "the uploaded image is empty" in answer.text and "a.png" in answer.text
    assert not seen


def test_a_body_in_chunks_is_refused_whatever_length_it_states(client, seen):
    headers = {"Content-Length": "7", "Transfer-Encoding": "chunked", "Content-Type": server._FORMS[1]}
    answer = client.post("/", content=b"query=x", headers=headers)
    assert answer.status_code == 400 and "must state a length" in answer.text and not seen


@pytest.mark.parametrize("query", [ATTACK, "<!--data-->", "</form>", "' onfocus='alert(1)"])
def test_text_of_a_question_stays_text(client, query):
    text = client.post("/", data={"query": query}).text
    assert "<script>" not in text and "<!--data" not in text and text.count("</form>") == 1
    assert "' onfocus='" not in text


@pytest.mark.parametrize("name", ["azimuth", "elevation"])
@pytest.mark.parametrize("value", ["nan", "inf", "1e999", "-1e3", "north", "", "0x10", "1" * 400])
def test_angles_that_are_none_are_refused(client, seen, name, value):
    answer = client.post("/", data={"query": "x", name: value})
    assert answer.status_code == 400 and name in answer.text and not seen


def test_a_question_longer_than_a_page_is_refused(client, seen):
    answer = client.post("/", data={"query": "x" * (server.MOST_LETTERS + 1)})
    assert answer.status_code == 400 and "letters" in answer.text and not seen


def test_an_error_is_three_lines_and_its_text_is_escaped(client):
    answer = client.post("/", data={"query": "refuse"})
    assert answer.status_code == 400 and "fix: ask otherwise" in answer.text and "<script>" not in answer.text


def test_what_breaks_inside_stays_inside(client):
    answer = client.post("/", data={"query": "break"})
    assert answer.status_code == 500
    assert "secret" not in answer.text and "Traceback" not in answer.text and "RuntimeError" not in answer.text


def test_too_much_and_what_states_no_length_is_refused(client, seen, monkeypatch):
    monkeypatch.setattr(server, "MOST_BYTES", 10_000)
    answer = client.post("/", files={"image": ("a.png", b"0" * 20_000, "image/png")})
    assert answer.status_code == 400 and "the form must state a length" in answer.text

    def parts():
        yield b"--b\r\nContent-Disposition: form-data; name=image; filename=a\r\n\r\n"
        for _ in range(20):
            yield b"0" * 1000

    answer = client.post("/", content=parts(), headers={"Content-Type": "multipart/form-data; boundary=b"})
    assert answer.status_code == 400 and not seen


@pytest.mark.parametrize(
    "body", [b"", b"--b", b"--b\r\n\r\n\r\n--b--", b"--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b--\r\n"]
)
def test_broken_forms_are_no_server_errors(client, body):
    answer = client.post("/", content=body, headers={"Content-Type": "multipart/form-data; boundary=b"})
    assert answer.status_code in (200, 400)


@pytest.mark.parametrize("kind", ["application/json", "text/plain", None])
def test_a_body_that_is_no_form_is_refused(client, seen, kind):
    answer = client.post("/", content=b'{"query": "x"}', headers={"Content-Type": kind} if kind else {})
    assert answer.status_code == 400 and "is no form" in answer.text and not seen


def test_a_form_that_cannot_be_read_is_not_called_a_page_that_does_not_exist(client):
    answer = client.post("/", content=b"garbage", headers={"Content-Type": "multipart/form-data; boundary=b"})
    assert answer.status_code == 400 and "the form cannot be read" in answer.text and "not exist" not in answer.text
    assert "does not exist" in client.get("/other").text


def test_many_files_and_fields_are_refused(client, seen):
    files = [("image", (f"{number}.png", b"x", "image/png")) for number in range(3)]
    assert client.post("/", files=files).status_code == 400
    assert client.post("/", data={f"f{n}": "x" for n in range(50)}, files=files[:1]).status_code == 400
    assert not seen


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "[::1].evil", ""])
def test_another_name_for_this_machine_is_refused(client, seen, host):
    assert client.get("/", headers={"Host": host}).status_code == 400 and not seen


@pytest.mark.parametrize(
    "headers",
    [
        *(
            {"Origin": one}
            for one in ("http://evil.example", "null", "https://127.0.0.1:8000", "http://127.0.0.1:9", "")
        ),
        *({"Origin": HERE, "Sec-Fetch-Site": one} for one in ("cross-site", "same-site", "none")),
    ],
)
def test_a_form_of_another_site_is_refused(client, seen, headers):
    assert client.post("/", data={"query": "x"}, headers=headers).status_code == 400 and not seen
    own = {"Origin": HERE, "Sec-Fetch-Site": "same-origin"}
    assert client.post("/", data={"query": "x"}, headers=own).status_code == 200


def test_a_form_that_says_not_where_it_is_from_is_refused(seen):
    plain = TestClient(application(lambda asked: "page", Asked()), base_url=HERE)
    assert plain.post("/", data={"query": "x"}).status_code == 400


def test_slow_senders_hinder_nobody_and_are_let_go(monkeypatch):
    monkeypatch.setattr(server, "_BODY_SECONDS", 1.0)
    program = application(lambda asked: f"asked: {asked.query}", Asked())
    running = uvicorn.Server(uvicorn.Config(program, port=0, log_level="error"))
    thread = threading.Thread(target=running.run, daemon=True)
    thread.start()
    while not running.started:
        time.sleep(0.01)
    port = running.servers[0].sockets[0].getsockname()[1]
    head = f"POST / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nOrigin: http://127.0.0.1:{port}\r\n"
    head += "Content-Type: application/x-www-form-urlencoded\r\nConnection: close\r\nContent-Length: {}\r\n\r\n"
    slow = [socket.create_connection(("127.0.0.1", port), timeout=20) for _ in range(12)]
    for one in slow:
        one.sendall(head.format(1000).encode() + b"query=")
    with socket.create_connection(("127.0.0.1", port), timeout=20) as fast:
        fast.sendall(head.format(7).encode() + b"query=x")
        assert b"asked: x" in _everything(fast)
    answers = [_everything(one) for one in slow]
    running.should_exit = True
    thread.join(timeout=20)
    assert all(b"400 Bad Request" in one and b"did not arrive within 1 seconds" in one for one in answers)


def _everything(connection: socket.socket) -> bytes:
    with connection:
        return b"".join(iter(lambda: connection.recv(65536), b""))


@pytest.mark.parametrize("path", ["/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/static/page.js", "/x//", "/docs"])
def test_there_is_nothing_but_the_page(client, path):
    answer = client.get(path)
    assert answer.status_code == 404 and "root:" not in answer.text


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS"])
def test_other_methods_are_refused(client, seen, method):
    assert client.request(method, "/").status_code == 405 and not seen


def test_the_page_may_ask_nobody(client):
    policy = client.get("/").headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "form-action 'self'" in policy and "frame-ancestors 'none'" in policy


@pytest.fixture
def port() -> Iterator[int]:
    """A server that runs."""
    place = socket.create_server(("127.0.0.1", 0))
    running = uvicorn.Server(server.settings(application(lambda asked: "the page", Asked())))
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
    one = _connected(port)
    one.sendall(f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n".encode())
    return _everything(one)


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
    monkeypatch.setattr(server, "_HEAD_SECONDS", 0.3)
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
    monkeypatch.setattr(server, "_HEAD_SECONDS", 1.0)
    with _connected(port) as one:
        for _ in range(2):
            one.sendall(f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
            got = b""
            while b"the page" not in got:
                got += one.recv(65536)
        one.sendall(b"GET / HT")
        assert _is_closed(one)
