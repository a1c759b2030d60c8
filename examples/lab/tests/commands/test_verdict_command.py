"""``hra eval vqa``: from a folder and a model to a report, killed and resumed, by every kind of model."""

from __future__ import annotations

import base64
import io
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest
from PIL import Image
from typer.testing import CliRunner

from hra.errors import HraError
from hra_lab.commands.evaluate import evaluate
from tests.helpers.vqa_sets import COUNT, docvqa_apart, lines, textvqa, vqa2

# Right where many tokens of the image are bright on average, so that methods and a grey image differ.
MODEL = """
def answer(tokens, question):
    return "two" if len(tokens) > 6 or float(tokens.values.std()) > 0.286 else "three"
answer.patch = 16
"""


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A function that answers, in the working folder."""
    monkeypatch.chdir(tmp_path)
    name = f"made_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(MODEL)
    return f"{name}:answer"


def run(*arguments: str) -> Any:
    """The command, whose error is shown."""
    done = CliRunner().invoke(evaluate, ["vqa", *arguments])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done


def test_three_sets_and_lines_give_one_report(tmp_path: Path, model: str) -> None:
    sets = [docvqa_apart(tmp_path / "a"), textvqa(tmp_path / "b"), vqa2(tmp_path / "c"), lines(tmp_path / "d")]
    done = run(*map(str, sets), "--model", model, "--budgets", "6,12", "--relevance", "cues", "--out", "out")
    record = json.loads(Path("out/report.json").read_text())
    report = Path("out/report.md").read_text()
    assert record["verdict"]["sentence"] in done.output and record["verdict"]["sentence"] in report
    assert [one["kind"] for one in record["sets"]] == ["documents", "text in the wild", "photos", "documents"]
    for one in record["sets"]:
        # The model as it is, a grey image, and eight methods at two budgets.
        assert one["questions"] == COUNT and len(one["cells"]) == 2 + 8 * 2 and not one["skipped"]
        counts = {cell["budget"]: cell["tokens"] for cell in one["cells"] if cell["budget"]}
        assert counts == {6: 6.0, 12: 12.0}
    regional = {cell["method"]: cell["regions"] for cell in record["sets"][3]["cells"]}
    assert set(regional["grid"]) == {"secondary", "periphery"} and not regional["a grey image"]
    for words in ("T1 grid top-K", "T11 gestalt and saccades", "By region", "selection, s", "scores below one half"):
        assert words in report


def test_more_methods_and_questions_go_on_from_what_is_there(tmp_path: Path, model: str) -> None:
    given = [str(docvqa_apart(tmp_path / "a")), "--model", model, "--relevance", "cues", "--out", "out"]
    run(*given, "--methods", "grid,pyramid", "--budgets", "6", "--limit", "2")
    files = [file for file in Path("out/answers/DocVQA-val").glob("*.json") if file.name != "job.json"]
    before = {file: json.loads(file.read_text())["rows"] for file in files}
    run(*given, "--methods", "grid,pyramid,random", "--budgets", "6,12")
    assert len(before) == 2 and len(list(Path("out/answers/DocVQA-val").glob("*.json"))) == COUNT + 1
    for file, rows in before.items():
        assert json.loads(file.read_text())["rows"][: len(rows)] == rows
    with pytest.raises(HraError, match="another job: relevance differ"):
        run(*given[:3], "--relevance", "uniform", "--out", "out", "--budgets", "6")


def test_what_knows_nothing_of_the_question_answers_alike_whatever_is_known(tmp_path: Path, model: str) -> None:
    data, scores = lines(tmp_path / "a"), {}
    for relevance in ("oracle", "cues"):
        run(str(data), "--model", model, "--budgets", "5", "--relevance", relevance, "--out", relevance)
        (one,) = json.loads(Path(relevance, "report.json").read_text())["sets"]
        rows = [row for answers in one["answers"] for row in answers["rows"] if row["region"] == "target"]
        scores[relevance] = {
            name: [row["covered"] for row in rows if row["method"] == name]
            for name in ("grid", "log-polar", "downsample", "uniform-grid", "random")
        }
    for name in ("downsample", "uniform-grid", "random"):
        assert scores["oracle"][name] == scores["cues"][name]
    assert scores["oracle"]["log-polar"] != scores["cues"]["log-polar"]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--methods", "pyramid"], "nothing to compare with"),
        (["--methods", "grid,grid"], "twice"),
        (["--methods", "grid,best"], "best"),
        (["--budgets", "0,6"], "a budget of 0 tokens"),
        (["--limit", "0"], "limit must be an integer of 1 or more"),
        (["--relevance", "oracle"], "needs the boxes"),
        (["--relevance", "best"], "best"),
        (["--model", "no_such_module:answer"], "no_such_module"),
        (["--model", "ftp://somewhere/v1"], "not an address"),
        (["--model", "http://127.0.0.1:9/v1"], "no answer of a server"),
        (["--weights", "somewhere"], "belong to a server"),
    ],
)
def test_what_cannot_be_run_is_refused(options: list[str], says: str, tmp_path: Path, model: str) -> None:
    with pytest.raises(HraError, match=says) as caught:
        run(str(docvqa_apart(tmp_path / "a")), "--model", model, "--relevance", "cues", "--budgets", "6", *options)
    assert caught.value.fix


@pytest.mark.parametrize("options", [["--methods", "grid,best"], ["--relevance", "best"]])
def test_names_are_looked_up_before_a_model_is(options: list[str], tmp_path: Path) -> None:
    with pytest.raises(HraError, match="best"):
        run(str(docvqa_apart(tmp_path / "a")), "--model", "no_such_module:answer", *options)


KILLED = """
import json, os, random, signal, sys, time
from pathlib import Path
from typer.testing import CliRunner
from hra_lab.commands.evaluate import evaluate
import hra.domains.tokens, hra_lab.vqa.report, hra_lab.vqa.models

def run(out):
    data = sys.argv[1:]
    options = ["--model", "killed_model:answer", "--budgets", "6,12", "--relevance", "cues", "--out", out]
    done = CliRunner().invoke(evaluate, ["vqa", *data, *options])
    if done.exit_code:
        raise SystemExit(repr(done.exception))

run("whole")
random, killed, kept = random.Random(0), 0, []
while killed < 20:
    child = os.fork()
    if child == 0:
        run("killed")
        os._exit(0)
    time.sleep(0.01 + 0.1 * random.random())
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        killed += 1
        files = Path("killed/answers").rglob("[!.]*.json")
        kept.append(sum(len(json.loads(file.read_text()).get("rows", [])) for file in files))
    else:  # it came to its end before: begin anew
        for file in Path("killed/answers").rglob("*.json"):
            file.unlink()
run("killed")
print(kept)
"""


def without_times(value: Any) -> Any:
    """A record without what a clock or the process measures, and without what the verdict says of speed."""
    timed = {"first_s", "answer_s", "selection_s", "peak_bytes", "peak_mb", "tokens_per_s", "tiers"}
    if isinstance(value, dict):
        return {name: without_times(part) for name, part in value.items() if name not in timed}
    return [without_times(part) for part in value] if isinstance(value, list) else value


def test_killed_20_times_it_ends_with_the_same_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "killed_model.py").write_text(MODEL)
    sets = [str(docvqa_apart(tmp_path / "a")), str(vqa2(tmp_path / "c"))]
    alone = {**os.environ, "OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-c", KILLED, *sets], capture_output=True, text=True, env=alone, timeout=500)
    assert done.returncode == 0, done.stderr
    whole, killed = (json.loads(Path(out, "report.json").read_text()) for out in ("whole", "killed"))
    assert without_times(killed) == without_times(whole)
    # Nothing is torn, nothing left over.
    assert not [file for file in Path("killed").rglob("*") if file.name.startswith(".hra-")]
    tables = [
        Path(out, "report.md").read_text().partition("Costs")[0].partition("Made by")[2] for out in ("whole", "killed")
    ]
    assert tables[0] == tables[1] and "T1 grid top-K" in tables[0]


def test_the_reader_of_canvases_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("safetensors")
    from hra_lab.evidence.canvas import canvases
    from hra_lab.evidence.questions import ANSWERS

    monkeypatch.chdir(tmp_path)
    rows = []
    for number, canvas in enumerate(canvases("test", 3)):
        Image.fromarray(canvas.image).save(f"{number}.png")
        asked = [(q.text, ANSWERS[q.answer], q.box) for q in canvas.questions[:3]]
        rows += [{"image": f"{number}.png", "question": q, "answer": a, "boxes": [box]} for q, a, box in asked]
    Path("canvases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    run("canvases.jsonl", "--model", "hra_lab.evidence.asking:from_tokens", "--methods", "grid,pyramid,downsample",
        "--budgets", "10", "--relevance", "oracle", "--out", "out")  # fmt: skip
    (one,) = json.loads(Path("out/report.json").read_text())["sets"]
    scores = {cell["method"]: cell["score"]["value"] for cell in one["cells"]}
    assert scores["all tokens"] >= 8 / 9 and scores["grid"] >= 8 / 9 and scores["a grey image"] <= 5 / 9


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a LLaVA of random weights."""
    pytest.importorskip("transformers")
    from tests.helpers.tiny_checkpoint import save

    return save(tmp_path_factory.mktemp("tiny"))


def test_a_tiny_random_model_answers_on_three_sets(tmp_path: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("hra_lab.vqa.models._LONGEST", 4)
    sets = [docvqa_apart(tmp_path / "a"), textvqa(tmp_path / "b"), vqa2(tmp_path / "c")]
    run(*map(str, sets), "--model", str(tiny), "--methods", "grid,pyramid,gestalt-saccades,log-polar,divprune",
        "--budgets", "16", "--relevance", "cues", "--limit", "3", "--out", "out")  # fmt: skip
    record = json.loads(Path("out/report.json").read_text())
    assert record["verdict"]["sentence"].startswith("No verdict")  # weights are random, and nothing is read
    for one in record["sets"]:
        cells = {cell["method"]: cell for cell in one["cells"]}
        assert cells["all tokens"]["tokens"] == 64 and cells["a grey image"]["tokens"] == 64
        assert {cells[m]["tokens"] for m in ("grid", "pyramid", "gestalt-saccades", "log-polar", "divprune")} == {16}
        assert all(0 < cell["first_s"] <= cell["answer_s"] and cell["tokens_per_s"] > 0 for cell in cells.values())
        assert cells["grid"]["covered"] == pytest.approx(0.25) and cells["pyramid"]["covered"] == 1


class Server(BaseHTTPRequestHandler):
    """Speaks as much of OpenAI's protocol as is needed, and keeps what it was asked."""

    asked: ClassVar[list[Any]] = []

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing."""

    def do_GET(self) -> None:
        """Its models."""
        self._send(json.dumps({"data": [{"id": "tiny"}]}).encode())

    def do_POST(self) -> None:
        """An answer in two pieces, and then how long it was."""
        self.asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        pieces: list[Any] = [{"choices": [{"delta": {"content": text}}]} for text in ("t", "wo")]
        pieces.append({"choices": [], "usage": {"completion_tokens": 2}})
        self._send(b"".join(b"data: " + json.dumps(one).encode() + b"\n\n" for one in pieces) + b"data: [DONE]\n\n")

    def _send(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture
def server() -> Iterator[str]:
    """Its address."""
    Server.asked = []
    made = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    thread = threading.Thread(target=made.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{made.server_port}/v1"
    made.shutdown()
    thread.join()
    made.server_close()


def parts(kind: str) -> list[Any]:
    """What the server was sent, of one kind."""
    content = [part for one in Server.asked for part in one["messages"][0]["content"]]
    return [part[kind] for part in content if part["type"] == kind]


def test_a_server_is_sent_the_pictures_that_tokens_give_back(tmp_path: Path, server: str, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    run(str(docvqa_apart(tmp_path / "a")), "--model", server, "--methods", "grid,downsample", "--budgets", "6",
        "--relevance", "cues", "--limit", "1", "--out", "out")  # fmt: skip
    assert len(Server.asked) == 4 and Server.asked[0]["model"] == "tiny"
    shown = [Image.open(io.BytesIO(base64.b64decode(part["url"].partition(",")[2]))) for part in parts("image_url")]
    assert {one.size for one in shown} == {(96, 64)} and len({one.tobytes() for one in shown}) == 4
    (one,) = json.loads(Path("out/report.json").read_text())["sets"]
    assert all(cell["score"]["value"] == 1 and cell["tokens"] is None for cell in one["cells"])
    assert all(cell["first_s"] is not None and cell["tokens_per_s"] > 0 for cell in one["cells"])


def test_a_server_is_sent_embeddings_where_weights_are_at_hand(
    tmp_path: Path, tiny: Path, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    monkeypatch.chdir(tmp_path)
    run(str(docvqa_apart(tmp_path / "a")), "--model", server, "--weights", str(tiny), "--methods", "grid,pyramid",
        "--budgets", "16", "--relevance", "cues", "--limit", "1", "--out", "out")  # fmt: skip
    sent = [torch.load(io.BytesIO(base64.b64decode(part)), weights_only=True) for part in parts("image_embeds")]
    assert [tuple(one.shape) for one in sent] == [(16, 64)] * 2 and not torch.equal(*sent)
    assert len(parts("image_url")) == 2
    (one,) = json.loads(Path("out/report.json").read_text())["sets"]
    assert {cell["method"]: cell["tokens"] for cell in one["cells"]}["grid"] == 16


def test_an_interrupt_leaves_answers_that_count(tmp_path: Path, model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from hra_lab.vqa import models

    given = [str(docvqa_apart(tmp_path / "a")), "--model", model, "--relevance", "cues", "--out", "out",
             "--methods", "grid", "--budgets", "6"]  # fmt: skip
    whole, calls = models.FunctionModel.ask, []

    def ask(self: Any, *asked: Any) -> Any:
        calls.append(asked)
        if len(calls) == 5:
            signal.raise_signal(signal.SIGINT)
        return whole(self, *asked)

    monkeypatch.setattr(models.FunctionModel, "ask", ask)
    # Where the tests run in the background of a shell, interrupts are ignored from the start.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        assert CliRunner().invoke(evaluate, ["vqa", *given]).exit_code != 0
    finally:
        signal.signal(signal.SIGINT, before)
    kept = sum(len(json.loads(file.read_text())["rows"]) for file in Path("out/answers").rglob("*.json")
               if file.name != "job.json")  # fmt: skip
    assert kept == 4
    run(*given)
    assert len(calls) == 5 + 3 * COUNT - 4
