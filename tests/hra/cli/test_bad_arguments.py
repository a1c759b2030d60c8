"""Command lines that cannot be carried out end with exit code 2 and say why; odd names of files do no harm."""

from __future__ import annotations

import io
import os
import shutil
import sys
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
from PIL import Image

import hra.cli
from hra.domains import meshes
from tests.helpers.hostile import gltf
from tests.helpers.hostile.cases import FACES, POINTS

HUGE, LONG, PATH = "9" * 400, "n" * 300, "/".join(["n" * 200] * 30)
CUT = ["mesh", "cut", "t.hra", "--triangles", "4"]
RENDER = ["mesh", "render", "t.hra", "-o", "r.png"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cli")
    mesh = meshes.from_arrays(POINTS, FACES)
    mesh.export(folder / "t.ply")
    meshes.build(mesh).save(folder / "t.hra")
    Image.new("RGB", (64, 48), (10, 200, 30)).save(folder / "s.png")
    for suffix in ("ply", "hra", "png", "json", "npz", "txt"):
        os.mkfifo(folder / f"pipe.{suffix}")
    (folder / "file").write_text("x")
    (folder / "inner").mkdir()
    (folder / "wide.json").write_text('{"eye": [0, 0, 5], "target": [0, 0, 0], "viewport": [1000000, 1000000]}')
    (folder / "far.json").write_text('{"eye": [0, 0, 1e308], "target": [0, 0, 0]}')
    (folder / "long.json").write_text('{"eye": [0, 0, ' + "9" * 5000 + '], "target": [0, 0, 0]}')
    (folder / "digits.json").write_text('{"eye": [0, 0, ' + HUGE + '], "target": [0, 0, 0]}')
    (folder / "types.json").write_text('{"eye": null, "target": {"a": 1}}')
    (folder / "views.json").write_text('{"eye": [0, 0, 5], "target": [0, 0, 0], "viewport": [1e3, 7]}')
    return folder


def run(arguments: Sequence[str], monkeypatch: pytest.MonkeyPatch) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of a command."""
    monkeypatch.setattr(sys, "argv", ["hra", *arguments])
    out, err, code = io.StringIO(), io.StringIO(), 0
    with redirect_stdout(out), redirect_stderr(err):
        try:
            hra.cli.main()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 0
    return code, out.getvalue(), err.getvalue()


def with_values(command: list[str], option: str, values: Sequence[str]) -> list[list[str]]:
    return [[*command, option, value] for value in values]


COMMANDS = [
    *with_values(
        ["mesh", "info", "t.hra"], "--json", [".", "inner", "file/x.json", f"{LONG}.json", f"{PATH}.json", ""]
    ),
    *with_values(["mesh", "info", "t.hra"], "--json", ["/nonexistent/a.json", "/dev/null", "/proc/x", "pipe.json"]),
    *with_values(["mesh", "build", "t.ply"], "-o", [".", "inner", "file/x.hra", f"{LONG}.hra", "/dev/null", "out.xyz"]),
    *(
        ["mesh", "build", name, "-o", "o.hra"]
        for name in (
            "pipe.ply",
            "/dev/zero",
            ".",
            "none.ply",
            f"{LONG}.ply",
            f"{PATH}.ply",
            "file",
            "http://x/y.ply",
            "",
        )
    ),
    *(
        [*command, name]
        for name in ("pipe.hra", "/dev/zero", "none.hra", f"{LONG}.hra", "t.ply")
        for command in (["mesh", "info"], ["mesh", "cut", "--triangles", "4"], ["mesh", "check"])
    ),
    *with_values(
        CUT, "--viewport", ["1000000x1000000", "100000x1", "0x0", "-1x5", f"{HUGE}x{HUGE}", "axb", "1x", "1e3x5"]
    ),
    *with_values(RENDER, "--viewport", ["1000000x1000000", "20000x20000", "16385x10"]),
    *with_values(CUT, "--distance", ["1e308", "nan", "inf", HUGE, "-1"]),
    *with_values(CUT, "--azimuth", ["nan", HUGE, "x"]),
    *with_values(CUT, "--eye", [f"{HUGE},0,0", "1e308,0,0", "0,0", "a,b,c"]),
    *with_values(CUT, "--up", ["0,0,0", f"{HUGE},1,0"]),
    *with_values(CUT, "--target", ["0,0,0"]),
    *with_values(
        CUT,
        "--camera",
        [
            *("wide.json", "far.json", "long.json", "digits.json", "types.json", "views.json", "pipe.json"),
            *("none.json", "inner", "t.hra", LONG),
        ],
    ),
    *with_values(["mesh", "cut", "t.hra"], "--triangles", ["nan", "-1", "0"]),
    *with_values(["mesh", "cut", "t.hra"], "--bytes", [f"{HUGE}MB", "1e400", "-1", "x", "nan"]),
    *with_values(["mesh", "build", "t.ply", "-o", "o.hra"], "--cluster-size", [HUGE, "0", "x"]),
    *with_values(["mesh", "build", "t.ply", "-o", "o.hra"], "--group-size", ["-1"]),
    *with_values(["mesh", "build", "t.ply", "-o", "o.hra"], "--threads", [HUGE, "0"]),
    *with_values(["mesh", "build", "t.ply", "-o", "o.hra"], "--memory", ["x", "0", HUGE]),
    *(
        [*command, name]
        for name in ("pipe.png", "none.png", "inner", "file", "/dev/zero", LONG, "t.ply", "x://y")
        for command in (["tokens", "allocate"], ["texture", "plan"], ["texture", "replay"])
    ),
    ["texture", "replay", "pipe.npz"],
    ["texture", "replay", "none.npz"],
    ["texture", "trace", "pipe.txt"],
    *with_values(["tokens", "allocate", "s.png"], "--budget", ["-1", "x"]),
    *with_values(["tokens", "allocate", "s.png"], "-o", [".", "none/y.png"]),
    *with_values(["texture", "plan", "s.png"], "--pool", [HUGE, "-1", "", "x"]),
    *with_values(["texture", "plan", "s.png"], "--tile", ["0", HUGE]),
    *with_values(["texture", "plan", "s.png"], "--view", ["1,2", f"{HUGE},1,1", "nan,1,1"]),
    *with_values(["texture", "plan", "s.png"], "--viewport", ["1000000x1000000"]),
    *with_values(["texture", "replay", "s.png"], "--frames", [HUGE, "0"]),
    *with_values(["demo"], "--out", ["file", "file/x", "/proc/x"]),
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(word[:24] for word in command))
def test_it_ends_with_code_2_and_says_why(command: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    before = sorted(os.listdir(folder))
    code, _, text = run(command, monkeypatch)
    assert code == 2, text
    assert [line.split(":")[0] for line in text.splitlines()][-3:] == ["error", "where", "fix"], text
    assert len(text) < 5000
    assert sorted(os.listdir(folder)) == before


def test_brackets_in_names_are_letters(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkdir("x[")
    name = "a[bold]b[/nothing]"
    os.mkdir("a[bold]b[")
    shutil.copy(folder / "t.ply", "t[red].ply")
    shutil.copy(folder / "s.png", "s[b].png")
    for command in (
        ["mesh", "build", "t[red].ply", "-o", f"{name}.hra", "--json", "j[i].json"],
        ["mesh", "info", f"{name}.hra"],
        ["mesh", "cut", f"{name}.hra", "--triangles", "4", "-o", "x[/red].glb"],
        ["tokens", "allocate", "s[b].png", "--budget", "9", "-o", "o[u].png"],
        ["texture", "plan", "s[b].png", "--pool", "1MiB"],
    ):
        code, out, err = run(command, monkeypatch)
        assert code == 0, err
        assert command[1] == "cut" or Path(command[2]).name.split(".")[0] in out
    assert Path("x[/red].glb").stat().st_size and Path("j[i].json").stat().st_size


def test_the_limit_of_memory_is_an_option(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    header, chunk = gltf.plain()
    nodes = [{"mesh": 0, "translation": [number, 0, 0]} for number in range(99)]
    changed = gltf.edited({"nodes": nodes, "scenes.0.nodes": list(range(99))}, header)
    Path("a.glb").write_bytes(gltf.glb(changed, chunk))
    code, _, text = run(["mesh", "build", "a.glb", "-o", "a.hra", "--memory", "1"], monkeypatch)
    assert code == 2 and "bytes of memory, more than" in text
    assert run(["mesh", "build", "a.glb", "-o", "a.hra", "--memory", "1MiB"], monkeypatch)[0] == 0


def test_long_numbers_are_shown(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    code, out, _ = run(["tokens", "allocate", "s.png", "--budget", "9" * 40], monkeypatch)
    assert code == 0 and "9,999,999" in out


def test_names_that_are_no_text_are_shown(folder: Path, tmp_path: Path) -> None:
    import subprocess

    name = os.fsdecode(b"sch\xe4del.hra")
    shutil.copy(folder / "t.hra", tmp_path / name)
    run = [sys.executable, "-c", "import hra.cli; hra.cli.main()", "mesh", "info", name]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, env={**os.environ, "LC_ALL": "C.UTF-8"})
    assert done.returncode == 0, done.stderr
    assert b"sch\\udce4del.hra" in done.stdout
