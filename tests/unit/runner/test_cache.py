"""ModelCache: what is found again, and what a bad cache does."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from cudalint.cache import KEPT_DAYS, ModelCache, default_folder
from cudalint.finding import Span
from cudalint.syntax.model import Comment, FileModel

MODEL = FileModel("a.cu", 9, comments=(Comment(Span("a.cu", 0, 9), "// hello", True),))


def entries(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("models/*/*") if path.is_file())


def test_a_model_is_found_by_path_and_content(tmp_path: Path) -> None:
    cache = ModelCache(tmp_path)
    assert cache.get("a.cu", b"// hello\n") is None
    cache.put(b"// hello\n", MODEL)
    assert ModelCache(tmp_path).get("a.cu", b"// hello\n") == MODEL
    assert cache.get("b.cu", b"// hello\n") is None
    assert cache.get("a.cu", b"// hellO\n") is None
    assert cache.failure is None
    assert len(entries(tmp_path)) == 1
    assert (tmp_path / "CACHEDIR.TAG").read_text().startswith("Signature: 8a477f597d28d172789f0688")


def test_a_file_whose_name_is_no_utf8_is_not_kept(tmp_path: Path) -> None:
    name = "bad\udcff.cu"
    cache = ModelCache(tmp_path)
    cache.put(b"x", FileModel(name, 1, comments=(Comment(Span(name, 0, 1), "x", True),)))
    assert cache.get(name, b"x") is None
    assert cache.failure is None
    assert entries(tmp_path) == []


def test_another_version_of_the_extractor_finds_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ModelCache(tmp_path).put(b"x", MODEL)
    monkeypatch.setattr("cudalint.__version__", "0.0.0")
    assert ModelCache(tmp_path).get("a.cu", b"x") is None


@pytest.mark.parametrize("damage", [b"", b"\x00", b"\xff" * 50, None])
def test_a_damaged_entry_is_as_good_as_none(tmp_path: Path, damage: bytes | None) -> None:
    cache = ModelCache(tmp_path)
    cache.put(b"x", MODEL)
    (entry,) = entries(tmp_path)
    entry.write_bytes(entry.read_bytes()[:-3] if damage is None else damage)
    assert cache.get("a.cu", b"x") is None
    cache.put(b"x", MODEL)
    assert cache.get("a.cu", b"x") == MODEL


def test_a_folder_that_cannot_be_made_is_told_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache = ModelCache(tmp_path / "file")
    assert cache.get("a.cu", b"x") is None
    cache.put(b"x", MODEL)
    assert cache.failure == f"cannot write the cache in {tmp_path / 'file'}: File exists"
    cache.put(b"y", MODEL)
    cache.prune()


def test_a_full_disk_leaves_no_half_entry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Path, data: bytes) -> int:
        with self.open("wb") as stream:
            stream.write(data[:5])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    cache = ModelCache(tmp_path)
    cache.put(b"x", MODEL)
    assert cache.failure is not None
    assert cache.failure.endswith("No space left on device")
    assert entries(tmp_path) == []


def test_processes_of_one_number_write_to_drafts_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As containers that share a cache have it."""
    monkeypatch.setattr(os, "getpid", lambda: 7)
    drafts = []
    real = Path.write_bytes

    def write(self: Path, data: bytes) -> int:
        drafts.append(self)
        return real(self, data)

    monkeypatch.setattr(Path, "write_bytes", write)
    for cache in (ModelCache(tmp_path), ModelCache(tmp_path)):
        cache.put(b"x", MODEL)
    assert len(set(drafts)) == 2
    assert len(entries(tmp_path)) == 1


def test_a_clock_that_was_ahead_keeps_nothing_for_ever(tmp_path: Path) -> None:
    """An entry, and the mark of when it was tidied last, are from years to come."""
    cache = ModelCache(tmp_path)
    for data in (b"used", b"old"):
        cache.put(data, MODEL)
    cache.prune()
    ahead = time.time() + 1000 * 86_400
    for file in (*entries(tmp_path), tmp_path / "models" / "pruned"):
        os.utime(file, (ahead, ahead))
    assert cache.get("a.cu", b"used") == MODEL
    assert sorted(entry.stat().st_mtime > time.time() + 1000 for entry in entries(tmp_path)) == [
        False,
        True,
    ]
    long_ago = time.time() - (KEPT_DAYS + 1) * 86_400
    for entry in entries(tmp_path):
        if entry.stat().st_mtime > time.time() + 1000:
            os.utime(entry, (long_ago, long_ago))
    cache.prune()
    assert cache.get("a.cu", b"used") == MODEL
    assert cache.get("a.cu", b"old") is None
    assert cache.failure is None


def test_a_clock_that_goes_back_hides_no_change(tmp_path: Path) -> None:
    """An entry goes by what a file holds, and not by when it was written."""
    cache = ModelCache(tmp_path)
    cache.put(b"x", MODEL)
    (entry,) = entries(tmp_path)
    os.utime(entry, (1 << 33, 1 << 33))
    assert cache.get("a.cu", b"y") is None
    assert cache.get("a.cu", b"x") == MODEL


def test_entries_that_nobody_used_go(tmp_path: Path) -> None:
    cache = ModelCache(tmp_path)
    for data in (b"old", b"used"):
        cache.put(data, MODEL)
    long_ago = time.time() - (KEPT_DAYS + 1) * 86_400
    for entry in entries(tmp_path):
        os.utime(entry, (long_ago, long_ago))
    assert cache.get("a.cu", b"used") == MODEL
    cache.prune()
    assert cache.get("a.cu", b"used") == MODEL
    assert cache.get("a.cu", b"old") is None
    assert cache.failure is None


def test_pruning_is_done_once_a_day(tmp_path: Path) -> None:
    cache = ModelCache(tmp_path)
    cache.prune()
    assert not tmp_path.joinpath("models").exists()
    cache.put(b"x", MODEL)
    cache.prune()
    long_ago = time.time() - (KEPT_DAYS + 1) * 86_400
    (entry,) = entries(tmp_path)
    os.utime(entry, (long_ago, long_ago))
    cache.prune()
    assert entries(tmp_path) == [entry]
    os.utime(tmp_path / "models" / "pruned", (long_ago, long_ago))
    cache.prune()
    assert entries(tmp_path) == []


def test_where_the_cache_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDALINT_CACHE_DIR", "/x/own")
    assert default_folder() == Path("/x/own")
    monkeypatch.delenv("CUDALINT_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", "/x/cache")
    assert default_folder() == Path("/x/cache/cudalint")
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    monkeypatch.setenv("HOME", "/x/home")
    assert default_folder() == Path("/x/home/.cache/cudalint")
