"""The live page: only this machine, everything escaped, errors as messages, uploads limited."""

from __future__ import annotations

import pytest

from hra.errors import HraError

pytest.importorskip("starlette")
pytest.importorskip("python_multipart")
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

    return TestClient(application(make, Asked("first")), base_url=HERE, raise_server_exceptions=False)


def test_the_page_is_made_for_what_the_form_says(client, seen):
    assert client.get("/").status_code == 200
    answer = client.post("/", data={"query": "what is red?", "azimuth": "40", "elevation": "-5"})
    assert answer.status_code == 200 and "what is red?" in answer.text
    assert seen == [Asked("first"), Asked("what is red?", 40.0, -5.0)]


def test_an_uploaded_image_reaches_the_page(client, seen):
    client.post("/", data={"query": "x"}, files={"image": ("a.png", b"content", "image/png")})
    assert seen[-1] == Asked("x", image=b"content")


def test_a_form_without_a_file_has_no_image(client, seen):
    client.post("/", data={"query": "x"}, files={"image": ("", b"", "application/octet-stream")})
    assert seen[-1].image is None


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


def test_too_much_is_refused_whatever_the_header_says(client, seen, monkeypatch):
    monkeypatch.setattr(server, "MOST_BYTES", 10_000)
    answer = client.post("/", files={"image": ("a.png", b"0" * 20_000, "image/png")})
    assert answer.status_code == 400 and "the form sent more" in answer.text

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


def test_many_files_and_fields_are_refused(client, seen):
    files = [("image", (f"{number}.png", b"x", "image/png")) for number in range(3)]
    assert client.post("/", files=files).status_code == 400
    assert client.post("/", data={f"f{n}": "x" for n in range(50)}, files=files[:1]).status_code == 400
    assert not seen


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "[::1].evil", ""])
def test_another_name_for_this_machine_is_refused(client, seen, host):
    assert client.get("/", headers={"Host": host}).status_code == 400 and not seen


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1:8000", "http://127.0.0.1:9"])
def test_a_form_of_another_site_is_refused(client, seen, origin):
    assert client.post("/", data={"query": "x"}, headers={"Origin": origin}).status_code == 400 and not seen
    assert client.post("/", data={"query": "x"}, headers={"Origin": HERE}).status_code == 200


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
