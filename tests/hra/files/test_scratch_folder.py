"""Scratch folders: they go in the end, nobody else's goes with them, and one job at a time has them."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from hra.errors import FileError, HraError
from hra.files.job_folder import JOB
from hra.files.scratch_folder import scratch_folder

FACTS = {"files": ["a"]}


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_the_folder_goes_once_the_work_is_done(tmp_path: Path):
    with scratch_folder(tmp_path / "out", FACTS, resumed=True) as folder:
        assert folder == tmp_path / "out.parts" and names(folder) == [JOB]
        (folder / "piece").write_text("1")
    assert names(tmp_path) == []


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
@pytest.mark.parametrize("resumed", [False, True])
def test_after_an_error_only_what_goes_on_stays(tmp_path: Path, error: type[BaseException], resumed: bool):
    with pytest.raises(error), scratch_folder(tmp_path / "out", FACTS, resumed=resumed) as folder:
        (folder / "piece").write_text("1")
        raise error
    assert names(tmp_path) == ["out.parts"] * resumed
    if resumed:
        with pytest.raises(HraError, match="another job"), scratch_folder(tmp_path / "out", {}, resumed=True):
            pytest.fail("the job of other facts began")
        with scratch_folder(tmp_path / "out", FACTS, resumed=True) as folder:
            assert (folder / "piece").read_text() == "1"


def test_what_is_no_job_is_left_alone(tmp_path: Path):
    (tmp_path / "out.parts").mkdir()
    (tmp_path / "out.parts" / "thesis.txt").write_text("years of work")
    with pytest.raises(HraError, match="something else"), scratch_folder(tmp_path / "out", FACTS, resumed=False):
        pytest.fail("the job began")
    assert (tmp_path / "out.parts" / "thesis.txt").read_text() == "years of work"
    (tmp_path / "file.parts").write_text("")
    with pytest.raises(FileError, match="cannot create"), scratch_folder(tmp_path / "file", FACTS, resumed=False):
        pytest.fail("the job began")


def test_a_job_that_was_killed_before_it_had_a_name_goes_on(tmp_path: Path):
    (tmp_path / "out.parts").mkdir()
    (tmp_path / "out.parts" / ".hra-0123456789ab-0123456789ab.tmp").write_text("{")
    with scratch_folder(tmp_path / "out", FACTS, resumed=True):
        pass
    assert names(tmp_path) == []


def test_others_wait_and_start_anew(tmp_path: Path):
    inside, entered, seen = threading.Event(), threading.Event(), []

    def other() -> None:
        inside.wait()
        with scratch_folder(tmp_path / "out", FACTS, resumed=True) as folder:
            entered.set()
            seen.append(names(folder))

    thread = threading.Thread(target=other)
    thread.start()
    with scratch_folder(tmp_path / "out", FACTS, resumed=True) as folder:
        (folder / "piece").write_text("1")
        inside.set()
        assert not entered.wait(0.3)
        assert names(folder) == [JOB, "piece"]
    thread.join(30)
    assert seen == [[JOB]] and names(tmp_path) == []


def test_a_folder_of_the_user_beside_it_stays(tmp_path: Path) -> None:
    mine = tmp_path / "out.parts.gone"
    mine.mkdir()
    (mine / "notes.txt").write_text("mine")
    with scratch_folder(tmp_path / "out", FACTS, resumed=True):
        pass
    assert (mine / "notes.txt").read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["out.parts.gone"]


def test_a_link_is_refused_and_what_it_points_to_stays(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (tmp_path / "out.parts").symlink_to(other)
    with pytest.raises(FileError, match="is a link"), scratch_folder(tmp_path / "out", FACTS, resumed=True):
        pass
    assert (tmp_path / "out.parts").is_symlink() and other.is_dir()
