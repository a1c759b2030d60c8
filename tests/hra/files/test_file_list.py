from __future__ import annotations

import os
from pathlib import Path

import pytest

from hra.errors import FileError, HraWarning
from hra.files.file_list import FileList


def test_files_are_listed_by_name_whatever_their_case(tmp_path: Path):
    (tmp_path / "b").mkdir()
    for name in ("b/1.PNG", "a.png", "c.txt", "c.png"):
        (tmp_path / name).write_text(name)
    found = FileList.of(tmp_path, frozenset({".png"}))
    assert found.names == ("a.png", "b/1.PNG", "c.png") and [size for size, _ in found.states] == [5, 7, 5]
    assert found.shard(1, 2) == ["c.png"] and found.sample(2) == ["a.png", "b/1.PNG"] and len(found.sample(9)) == 3
    assert FileList.of(tmp_path, frozenset({".png"})).facts == found.facts and found.facts["files"] == 3
    os.utime(tmp_path / "a.png", ns=(1, 1))
    later = FileList.of(tmp_path, frozenset({".png"}))
    (tmp_path / "a.png").write_text("longer text")
    os.utime(tmp_path / "a.png", ns=(1, 1))
    assert found.facts != later.facts != FileList.of(tmp_path, frozenset({".png"})).facts
    for root, what in (
        (tmp_path / "nowhere", "the folder does not exist"),
        (tmp_path / "b" / "1.PNG", "the folder does not exist"),
    ):
        with pytest.raises(FileError, match=what):
            FileList.of(root, frozenset({".png"}))
    with pytest.raises(FileError, match="no file for it"):
        FileList.of(tmp_path, frozenset({".jpg"}))


def test_links_that_lead_nowhere_are_files_and_links_to_folders_are_told(tmp_path: Path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.png").write_text("a")
    (tmp_path / "in" / "gone.png").symlink_to(tmp_path / "nowhere.png")
    assert FileList.of(tmp_path / "in", frozenset({".png"})).names == ("a.png", "gone.png")
    (tmp_path / "in" / "more").symlink_to(tmp_path)
    with pytest.warns(HraWarning, match="links to folders are not followed: more"):
        assert len(FileList.of(tmp_path / "in", frozenset({".png"})).names) == 2
