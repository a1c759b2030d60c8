"""Files are whole or not there; what stands in the way is a typed error; what killed processes leave is swept."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hra.errors import FileError
from hra.files.atomic_write import MANIFEST, write_atomically, write_folder

_SLOW_WRITER = """
import os, signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # shells ignore it for what runs in their background
import hra.files.atomic_write as module
real = os.fsync
def wait(handle):
    print("writing", flush=True)
    time.sleep(60)
module.os.fsync = wait
module.write_atomically(sys.argv[1], b"new" * 1000)
"""

_PIPES: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}


def leftovers(folder: Path) -> list[str]:
    return sorted(name for name in os.listdir(folder) if name.endswith(".tmp"))


def killed_writer(target: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", _SLOW_WRITER, str(target)], stdout=subprocess.PIPE)
    assert process.stdout is not None and process.stdout.readline() == b"writing\n"
    process.send_signal(signal.SIGKILL)
    process.wait()


@pytest.mark.case(84, 89)
def test_what_killed_processes_leave_is_swept_at_the_next_write_of_the_same_target(tmp_path: Path) -> None:
    write_atomically(tmp_path / "a.bin", b"old")
    killed_writer(tmp_path / "a.bin")
    assert (tmp_path / "a.bin").read_bytes() == b"old"
    assert len(leftovers(tmp_path)) == 1
    write_atomically(tmp_path / "b.bin", b"other")
    assert len(leftovers(tmp_path)) == 1
    write_atomically(tmp_path / "a.bin", b"new")
    assert leftovers(tmp_path) == []
    assert (tmp_path / "a.bin").read_bytes() == b"new"


@pytest.mark.case(85)
def test_a_writer_that_lives_is_not_swept(tmp_path: Path) -> None:
    target = tmp_path / "a.bin"
    process = subprocess.Popen([sys.executable, "-c", _SLOW_WRITER, str(target)], stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None and process.stdout.readline() == b"writing\n"
        write_atomically(target, b"mine")
        assert len(leftovers(tmp_path)) == 1
    finally:
        process.kill()
        process.wait()


@pytest.mark.case(85)
def test_threads_that_write_one_target_leave_one_of_their_contents(tmp_path: Path) -> None:
    contents = [bytes([number]) * 100_000 for number in range(8)]
    threads = [
        threading.Thread(target=lambda c=content: [write_atomically(tmp_path / "a", c) for _ in range(10)])
        for content in contents
    ]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        if (tmp_path / "a").exists():
            assert (tmp_path / "a").read_bytes() in contents
        time.sleep(0.001)
    assert os.listdir(tmp_path) == ["a"]


@pytest.mark.case(94)
def test_an_interrupt_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "a.bin"
    target.write_bytes(b"old")
    process = subprocess.Popen([sys.executable, "-c", _SLOW_WRITER, str(target)], **_PIPES)
    assert process.stdout is not None and process.stdout.readline() == b"writing\n"
    process.send_signal(signal.SIGINT)
    assert "KeyboardInterrupt" in str(process.communicate()[1])
    assert os.listdir(tmp_path) == ["a.bin"] and target.read_bytes() == b"old"


def test_permissions_and_links_of_an_existing_file_are_kept(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    target, link = tmp_path / "inner/a.bin", tmp_path / "link.bin"
    target.write_bytes(b"old")
    target.chmod(0o640)
    link.symlink_to(target)
    write_atomically(link, b"new")
    assert link.is_symlink() and target.read_bytes() == b"new"
    assert target.stat().st_mode & 0o777 == 0o640
    link.unlink()
    link.symlink_to(tmp_path / "inner/none.bin")
    write_atomically(link, b"made")
    assert (tmp_path / "inner/none.bin").read_bytes() == b"made"


def test_a_new_file_has_the_permissions_of_the_process(tmp_path: Path) -> None:
    previous = os.umask(0o027)
    try:
        write_atomically(tmp_path / "a", b"")
    finally:
        os.umask(previous)
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("length", [215, 240, 255])
def test_names_as_long_as_the_file_system_allows_are_written(length: int, tmp_path: Path) -> None:
    write_atomically(tmp_path / ("n" * length), b"x")
    assert (tmp_path / ("n" * length)).read_bytes() == b"x"


def _pipe(folder: Path) -> Path:
    os.mkfifo(folder / "pipe")
    return folder / "pipe"


def _loop(folder: Path) -> Path:
    (folder / "loop").symlink_to(folder / "loop")
    return folder / "loop"


def _below_a_file(folder: Path) -> Path:
    (folder / "file").write_bytes(b"")
    return folder / "file" / "a"


TARGETS: dict[str, Callable[[Path], object]] = {
    "a folder": lambda folder: folder,
    "this folder": lambda folder: ".",
    "nothing": lambda folder: "",
    "a missing folder": lambda folder: folder / "none" / "a",
    "below a file": _below_a_file,
    "a pipe": _pipe,
    "a device": lambda folder: "/dev/null",
    "a link to itself": _loop,
    "a name of 256 letters": lambda folder: folder / ("n" * 256),
    "a path of 9,000 letters": lambda folder: folder / "/".join(["n" * 200] * 45),
    "a zero byte": lambda folder: f"{folder}/a\0b",
    "a file of the system": lambda folder: "/proc/hra.bin",
    "a stream": lambda folder: __import__("io").BytesIO(),
}


@pytest.mark.parametrize("kind", TARGETS)
def test_what_cannot_be_written_is_a_typed_error(kind: str, tmp_path: Path) -> None:
    target = TARGETS[kind](tmp_path)
    before = sorted(os.listdir(tmp_path))
    with pytest.raises(FileError) as caught:
        write_atomically(target, b"x")  # pyright: ignore[reportArgumentType]
    assert caught.value.where and caught.value.fix
    assert sorted(os.listdir(tmp_path)) == before
    assert Path("/dev/null").is_char_device()


@pytest.mark.case(86, 87, 88)
@pytest.mark.parametrize("code", [30, 13, 28, 5], ids=os.strerror)
@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_the_error_of_the_disk_is_not_hidden_by_the_tidying_up(
    code: int, call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").write_bytes(b"old")

    def fail(*args: object, **kwargs: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, call, fail)
    monkeypatch.setattr(Path, "unlink", fail)
    with pytest.raises(FileError, match=os.strerror(code)):
        write_atomically(tmp_path / "a", b"new")
    assert (tmp_path / "a").read_bytes() == b"old"


def test_a_folder_of_files_is_listed_by_a_manifest_that_comes_last(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    write_folder(tmp_path, {"a.txt": b"1", "b.bin": b"22"})
    listed = json.loads((tmp_path / MANIFEST).read_text())["files"]
    assert {name: entry["bytes"] for name, entry in listed.items()} == {"a.txt": 1, "b.bin": 2}
    for name, entry in listed.items():
        assert hashlib.sha256((tmp_path / name).read_bytes()).hexdigest() == entry["sha256"]
    assert sorted(os.listdir(tmp_path)) == ["a.txt", "b.bin", MANIFEST, "notes.txt"]


@pytest.mark.case(87)
def test_a_folder_that_cannot_be_written_stays_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_folder(tmp_path, {"a": b"old", "b": b"old"})
    before = {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)}
    calls, real = [], os.fsync

    def full(handle: int) -> None:
        calls.append(handle)
        if len(calls) == 2:
            raise OSError(28, "No space left on device")
        real(handle)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(FileError, match="No space left"):
        write_folder(tmp_path, {"a": b"new", "b": b"new"})
    assert {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)} == before


def test_a_folder_that_is_replaced_in_part_has_no_manifest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_folder(tmp_path, {"a": b"old", "b": b"old"})
    real = os.replace

    def second_fails(source: Path, target: Path) -> None:
        if Path(target).name == "b":
            raise OSError(5, "Input/output error")
        real(source, target)

    monkeypatch.setattr(os, "replace", second_fails)
    with pytest.raises(FileError, match="Input/output"):
        write_folder(tmp_path, {"a": b"new", "b": b"new"})
    assert (tmp_path / "a").read_bytes() == b"new" and (tmp_path / "b").read_bytes() == b"old"
    assert not (tmp_path / MANIFEST).exists() and leftovers(tmp_path) == []
