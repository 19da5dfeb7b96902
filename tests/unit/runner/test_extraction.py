"""extract: the same models whatever the processes, the cache, and what goes wrong."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cudalint.cache import ModelCache
from cudalint.extraction import POOL_FILES, default_jobs, extract
from cudalint.source import SourceFile
from cudalint.syntax.model import FileModel
from readers import read_by


def sources(count: int) -> list[SourceFile]:
    text = 'extern "C" __global__ void k{0}(int* p) {{ p[{0}] = {0}; }} // {0}\n'
    return [SourceFile(f"{n}.cu", text.format(n).encode()) for n in range(count)]


def test_models_do_not_depend_on_the_processes_or_the_cache(tmp_path: Path) -> None:
    files = sources(POOL_FILES + 10)
    alone = extract(files, None, 1)
    assert list(alone.models) == [file.path for file in files]
    assert alone.models["3.cu"].kernels[0].name == "k3"
    assert alone.notifications == ()
    assert extract(files, None, 2) == alone
    assert extract(files, ModelCache(tmp_path), 2) == alone
    assert extract(files, ModelCache(tmp_path), 1) == alone


def test_file_names_that_are_no_utf8(tmp_path: Path) -> None:
    files = [SourceFile("bad\udcff.cu", b"__global__ void odd();"), *sources(POOL_FILES)]
    alone = extract(files, None, 1)
    assert alone.models["bad\udcff.cu"].kernels[0].name == "odd"
    assert extract(files, ModelCache(tmp_path), 2) == alone
    assert extract(files, ModelCache(tmp_path), 1) == alone


def test_the_cache_is_asked_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = sources(2)
    extract(files[:1], ModelCache(tmp_path), 1)
    read: list[str] = []

    def spy(path: str, data: bytes) -> FileModel:
        read.append(path)
        return FileModel(path, len(data))

    read_by(spy, monkeypatch)
    extract(files, ModelCache(tmp_path), 1)
    assert read == ["1.cu"]


def test_files_with_a_problem_have_no_model() -> None:
    bad = SourceFile("bad.cu", b"", "binary data")
    assert list(extract([bad, *sources(1)], None, 1).models) == ["0.cu"]


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_file_that_breaks_the_extractor_is_told(
    jobs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(path: str, data: bytes) -> FileModel:
        if path == "1.cu":
            raise RecursionError("too deep")
        return FileModel(path, len(data))

    read_by(broken, monkeypatch)
    found = extract(sources(POOL_FILES + 1), None, jobs)
    assert len(found.models) == POOL_FILES + 1
    (note,) = found.notifications
    assert (note.id, note.level.value) == ("file-failed", "error")
    assert note.message == "internal error while reading '1.cu': RecursionError: too deep"
    assert "Traceback" in note.detail


def test_a_process_that_dies_costs_its_files_only_their_models(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    parent = os.getpid()

    def dying(path: str, data: bytes) -> FileModel:
        if path == "5.cu" and os.getpid() != parent:
            os._exit(1)
        return FileModel(path, len(data))

    read_by(dying, monkeypatch)
    found = extract(sources(POOL_FILES + 1), None, 2)
    assert len(found.models) == POOL_FILES + 1
    assert found.notifications
    assert "died" in found.notifications[0].message


def test_jobs_are_the_processors_this_process_may_use() -> None:
    assert default_jobs() == len(os.sched_getaffinity(0))
