"""The store of compile results by itself: what is kept, for how long, and what is looked at."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cudalint.compile.model import Compilation
from cudalint.compile.store import Reading, Store

DAY = 86_400


class Kept:
    """A store of a tree that holds a.cu; each use is that of a new run."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "tree"
        self.cache = folder / "cache"
        self.warnings: list[str] = []
        self.write("a.cu", "// one\n")

    @property
    def store(self) -> Store:
        return Store(self.cache, self.root, self.warnings.append)

    def write(self, path: str, text: str = "") -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        os.utime(file, (1000, 1000))
        return file

    def keep(
        self,
        *inside: str,
        outside: tuple[str, ...] = (),
        folders: tuple[str, ...] = ("",),
        started: float = 2000.0,
        arch: str = "sm_90",
    ) -> None:
        reading = Reading(inside or ("a.cu",), outside, folders, started)
        self.store.keep("key", reading, Compilation(arch, ()))

    @property
    def found(self) -> str | None:
        result = self.store.find("key")
        return None if result is None else result.arch


@pytest.fixture
def kept(tmp_path: Path) -> Kept:
    return Kept(tmp_path)


def test_the_last_eight_contents_are_known(kept: Kept) -> None:
    for number in range(9):
        kept.write("a.cu", f"// {number}\n")
        kept.keep(arch=f"sm_{number}")
    known = []
    for number in range(9):
        kept.write("a.cu", f"// {number}\n")
        known.append(kept.found)
    assert known == [None, *(f"sm_{number}" for number in range(1, 9))]


@pytest.mark.parametrize(("written", "is_kept"), [(1999, True), (2000, False), (2001, False)])
def test_a_file_as_old_as_the_compile_may_have_changed(
    kept: Kept, written: int, is_kept: bool
) -> None:
    os.utime(kept.root / "a.cu", (written, written))
    kept.keep(started=2000.0)
    assert (kept.found is not None) is is_kept


def test_what_has_read_a_file_that_is_gone_is_not_kept(kept: Kept, tmp_path: Path) -> None:
    kept.keep("a.cu", "gone.cuh")
    assert kept.found is None
    kept.keep(outside=(str(tmp_path / "gone.h"),))
    assert kept.found is None
    kept.keep()
    assert kept.found == "sm_90"
    assert kept.warnings == []


def test_a_file_that_comes_up_in_a_folder_with_a_name_that_was_read(kept: Kept) -> None:
    """`#include "x/b.cuh"` found inc/x/b.cuh; now leaf/x, which was there, gets one too."""
    kept.write("inc/x/b.cuh")
    (kept.root / "leaf" / "x").mkdir(parents=True)
    kept.keep("a.cu", "inc/x/b.cuh", folders=("leaf", "inc"))
    assert kept.found == "sm_90"
    kept.write("leaf/x/other.cuh")
    assert kept.found == "sm_90"
    kept.write("leaf/x/b.cuh")
    assert kept.found is None


@pytest.mark.parametrize(("levels", "is_seen"), [(1, True), (8, True), (9, False)])
def test_folders_are_looked_into_to_a_depth(kept: Kept, levels: int, is_seen: bool) -> None:
    kept.write("inc/d/b.cuh")
    deep = "leaf/" + "d/" * levels
    (kept.root / deep).mkdir(parents=True)
    kept.keep("a.cu", "inc/d/b.cuh", folders=("leaf", "inc"))
    kept.write(deep + "b.cuh")
    assert (kept.found is None) is is_seen


def test_a_folder_that_leads_to_itself_ends(kept: Kept) -> None:
    kept.write("inc/d/b.cuh")
    (kept.root / "inc" / "d" / "d").symlink_to(".")
    kept.keep("a.cu", "inc/d/b.cuh", folders=("inc",))
    assert kept.found == "sm_90"


def test_the_cache_is_for_its_owner_alone(kept: Kept) -> None:
    kept.keep()
    assert kept.cache.stat().st_mode & 0o777 == 0o700


def aged(kept: Kept, monkeypatch: pytest.MonkeyPatch, days: float, seconds: float = 0) -> None:
    """Let so much time have gone by since the moment 10,000,000."""
    now = 10_000_000 + days * DAY + seconds
    monkeypatch.setattr("cudalint.compile.store.time.time", lambda: now)


@pytest.mark.parametrize(
    ("seconds", "is_deleted"),
    [(-0.5, True), (0, False), (0.5, False), (DAY - 0.5, False), (DAY, True), (DAY + 0.5, True)],
)
def test_old_results_are_looked_for_once_a_day(
    kept: Kept, monkeypatch: pytest.MonkeyPatch, seconds: float, is_deleted: bool
) -> None:
    """And also when the last time lies ahead: a clock was wrong."""
    kept.keep()
    kept.store.prune()
    (old,) = (kept.cache / "results").glob("*/*")
    os.utime(old, (1, 1))
    os.utime(kept.cache / "pruned", (10_000_000, 10_000_000))
    aged(kept, monkeypatch, 0, seconds)
    kept.store.prune()
    assert old.exists() is not is_deleted


@pytest.mark.parametrize(("seconds", "is_deleted"), [(-0.5, False), (0, False), (0.5, True)])
def test_a_result_is_kept_for_thirty_days(
    kept: Kept, monkeypatch: pytest.MonkeyPatch, seconds: float, is_deleted: bool
) -> None:
    kept.keep()
    (result,) = (kept.cache / "results").glob("*/*")
    os.utime(result, (10_000_000, 10_000_000))
    aged(kept, monkeypatch, 30, seconds)
    kept.store.prune()
    assert result.exists() is not is_deleted


@pytest.mark.parametrize(
    ("seconds", "is_touched"),
    [(-0.5, True), (0, False), (0.5, False), (DAY, False), (DAY + 0.5, True)],
)
def test_a_use_makes_a_result_young_once_a_day(
    kept: Kept, monkeypatch: pytest.MonkeyPatch, seconds: float, is_touched: bool
) -> None:
    kept.keep()
    (result,) = (kept.cache / "results").glob("*/*")
    os.utime(result, (10_000_000, 10_000_000))
    aged(kept, monkeypatch, 0, seconds)
    assert kept.found == "sm_90"
    monkeypatch.undo()
    assert (result.stat().st_mtime > 10_000_000) is is_touched


def test_there_is_nothing_to_delete_without_a_cache(kept: Kept) -> None:
    kept.store.prune()
    assert not kept.cache.exists()
    assert kept.warnings == []
