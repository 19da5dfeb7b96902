"""The bound of the cache's size: what goes, what stays, and how often that is looked at."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from conftest import lint, write_files
from cudalint.cachesize import DEFAULT, VARIABLE, bound, keep_within_bound, size_of

HOUR = 3600


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Ten entries of 100 bytes, the first used ten hours ago, the last one hour ago."""
    monkeypatch.setenv(VARIABLE, "1000")
    for number in range(10):
        part = "models/ab" if number % 2 else "compile/results/cd"
        write_files(tmp_path, {f"{part}/{number}": b"x" * 100})
        used(tmp_path / part / str(number), 10 - number)
    return tmp_path


def used(file: Path, hours: float) -> None:
    then = time.time() - hours * HOUR
    os.utime(file, (then, then), follow_symlinks=False)


def kept(cache: Path) -> str:
    return "".join(sorted(file.name for file in cache.rglob("?") if file.is_file()))


def test_nothing_goes_while_it_fits(cache: Path) -> None:
    assert size_of(cache) == 1000
    assert keep_within_bound(cache) is None
    assert kept(cache) == "0123456789"


def test_what_was_not_used_for_longest_goes_first(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    used(cache / "compile/results/cd/2", 0.5)
    monkeypatch.setenv(VARIABLE, "999")
    assert keep_within_bound(cache) is None
    assert kept(cache) == "2456789"


def test_what_another_process_may_just_write_stays(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "0")
    used(cache / "models/ab/9", 0)
    keep_within_bound(cache)
    assert kept(cache) == "9"


def test_what_is_not_ours_stays(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_files(cache, {"notes.txt": b"y" * 5000, "elsewhere/e": b"y" * 5000})
    used(cache / "notes.txt", 99)
    (cache / "models/ab/l").symlink_to(cache / "notes.txt")
    (cache / "models/m").symlink_to(cache / "elsewhere")
    used(cache / "models/ab/l", 99)
    monkeypatch.setenv(VARIABLE, "0")
    assert size_of(cache) == 1000
    assert keep_within_bound(cache) is None
    assert size_of(cache) == 0
    assert (cache / "models/ab/l").is_symlink()
    assert (cache / "notes.txt").stat().st_size == (cache / "elsewhere/e").stat().st_size == 5000


def test_it_is_looked_at_once_a_day_and_for_another_bound(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep_within_bound(cache)
    write_files(cache, {"models/ab/n": b"x" * 900})
    used(cache / "models/ab/n", 1)
    keep_within_bound(cache)
    assert kept(cache) == "0123456789n"
    used(cache / "bounded", 25)
    keep_within_bound(cache)
    assert size_of(cache) <= 1000
    assert (size_of(cache), kept(cache)) == (0, "")
    write_files(cache, {"models/ab/o": b"x" * 900})
    used(cache / "models/ab/o", 1)
    keep_within_bound(cache)
    assert kept(cache) == "o"
    monkeypatch.setenv(VARIABLE, "800")
    keep_within_bound(cache)
    assert kept(cache) == ""


def test_an_entry_that_another_process_deletes_meanwhile(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.unlink

    def twice(path: str) -> None:
        real(path)
        real(path)

    monkeypatch.setattr(os, "unlink", twice)
    monkeypatch.setenv(VARIABLE, "500")
    assert keep_within_bound(cache) is None
    assert kept(cache) == "6789"


def test_the_bound(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    assert bound() == DEFAULT
    for text in ("-1", "1e9", "much", "9" * 30):
        monkeypatch.setenv(VARIABLE, text)
        with pytest.raises(ValueError, match="no number of bytes"):
            bound()
        assert keep_within_bound(tmp_path) == f"{VARIABLE} is '{text}', no number of bytes"
    monkeypatch.setenv(VARIABLE, "")
    assert bound() == DEFAULT


def test_a_folder_that_can_not_be_tidied_is_one_warning(cache: Path, tmp_path: Path) -> None:
    (cache / "bounded").mkdir()
    assert keep_within_bound(cache) == f"cannot tidy {cache}: Is a directory"
    assert keep_within_bound(cache / "gone") is None


def test_a_run_keeps_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_files(tmp_path, {"src/a.cu": "int x;\n", "cache/models/ab/old": b"x" * 3000})
    used(tmp_path / "cache/models/ab/old", 2)
    monkeypatch.setenv(VARIABLE, "2000")
    finished = lint(tmp_path / "src", cache=tmp_path / "cache")
    assert finished.notifications == ()
    assert not (tmp_path / "cache/models/ab/old").exists()
    monkeypatch.setenv(VARIABLE, "none")
    (note,) = lint(tmp_path / "src", cache=tmp_path / "cache").notifications
    assert (note.id, note.level.value) == ("cache-unusable", "warning")
