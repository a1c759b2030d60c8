"""Paths that are read: regular files, and typed errors for everything else."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from hra.domains import meshes
from hra.domains.textures import open_image
from hra.errors import FileError, HraWarning, LimitExceeded
from hra.files.images import load_image
from hra.files.limits import Limits
from hra.files.local_files import open_regular, read_regular, warn_of_older
from hra.residency import load_poses, load_trace


def _pipe(folder: Path, suffix: str) -> Path:
    os.mkfifo(folder / f"pipe{suffix}")
    return folder / f"pipe{suffix}"


def _device(folder: Path, suffix: str) -> Path:
    (folder / f"zero{suffix}").symlink_to("/dev/zero")
    return folder / f"zero{suffix}"


def _folder(folder: Path, suffix: str) -> Path:
    (folder / f"inner{suffix}").mkdir()
    return folder / f"inner{suffix}"


def _loop(folder: Path, suffix: str) -> Path:
    (folder / f"loop{suffix}").symlink_to(folder / f"loop{suffix}")
    return folder / f"loop{suffix}"


def _below_a_file(folder: Path, suffix: str) -> Path:
    (folder / "file").write_bytes(b"x")
    return folder / "file" / f"a{suffix}"


PATHS: dict[str, Callable[[Path, str], object]] = {
    "missing": lambda folder, suffix: folder / f"none{suffix}",
    "a folder": _folder,
    "a pipe": _pipe,
    "a device": _device,
    "a link to itself": _loop,
    "below a file": _below_a_file,
    "a name of 300 letters": lambda folder, suffix: folder / ("n" * 300 + suffix),
    "a path of 9,000 letters": lambda folder, suffix: folder / ("/".join(["n" * 200] * 45) + suffix),
    "a zero byte": lambda folder, suffix: f"{folder}/a\0b{suffix}",
    "an address": lambda folder, suffix: f"http://127.0.0.1:9/a{suffix}",
    "a stream": lambda folder, suffix: io.BytesIO(b"x"),
    "none": lambda folder, suffix: None,
    "a number": lambda folder, suffix: 7,
}
READERS: dict[str, tuple[Callable[..., object], str]] = {
    "load": (meshes.load, ".ply"),
    "open_asset": (meshes.open_asset, ".hra"),
    "load_image": (load_image, ".png"),
    "open_image": (open_image, ".png"),
    "load_trace": (load_trace, ".npz"),
    "load_poses": (load_poses, ".txt"),
}


@pytest.mark.parametrize("kind", PATHS)
@pytest.mark.parametrize("reader", READERS)
def test_what_is_no_regular_file_is_refused_at_once(kind: str, reader: str, tmp_path: Path) -> None:
    read, suffix = READERS[reader]
    with pytest.raises(FileError) as caught:
        read(PATHS[kind](tmp_path, suffix))
    assert caught.value.where and caught.value.fix


@pytest.mark.case(88)
def test_a_file_that_may_not_be_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x")
    (tmp_path / "a").chmod(0)
    if os.geteuid():
        with pytest.raises(FileError, match="Permission denied"):
            open_regular(tmp_path / "a")
    else:  # root may read it all the same
        assert read_regular(tmp_path / "a") == b"x"


def test_links_and_names_of_any_bytes_are_followed(tmp_path: Path) -> None:
    name = os.fsdecode(b"sch\xe4del")
    (tmp_path / name).write_bytes(b"x")
    (tmp_path / "link").symlink_to(tmp_path / name)
    assert read_regular(tmp_path / "link") == read_regular(os.fsencode(tmp_path / name)) == b"x"


def test_longer_files_than_allowed_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"12345")
    assert read_regular(tmp_path / "a", Limits(file_bytes=5)) == b"12345"
    with pytest.raises(LimitExceeded, match="5 file bytes, more than the limit of 4") as caught:
        read_regular(tmp_path / "a", Limits(file_bytes=4))
    assert isinstance(caught.value, FileError) and caught.value.code == "limit-exceeded"


def test_files_of_an_earlier_series_are_named(tmp_path: Path) -> None:
    for name in ("a0.png", "a1.png", "a2.png", "a12.png", "ab.png", "a3.jpg", "xa4.png"):
        (tmp_path / name).touch()
    with pytest.warns(HraWarning, match=r"earlier run: a12\.png, a2\.png;") as caught:
        warn_of_older(tmp_path, "a", ".png", ["a0.png", "a1.png"])
    assert len(caught) == 1
    warn_of_older(tmp_path, "x", ".png", [])
    for number in range(5, 9):
        (tmp_path / f"a{number}.png").touch()
    with pytest.warns(HraWarning, match="a12.png, a2.png, a5.png, and 3 more;"):
        warn_of_older(tmp_path, "a", ".png", ["a0.png", "a1.png"])
