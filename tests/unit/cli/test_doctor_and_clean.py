"""`cudalint doctor` and `cudalint clean`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from conftest import write_files
from cudalint.cli.group import cli
from cudalint.compile.toolchain import Toolchain, Toolchains


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, list(arguments), standalone_mode=False)


def nvcc_is(monkeypatch: pytest.MonkeyPatch, found: Toolchains) -> None:
    monkeypatch.setattr("cudalint.compile.toolchain.find_toolchains", lambda: found)


def test_all_is_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Toolchain("/t/nvcc", "13.0.88", (13, 0), frozenset({75, 121}), "/t/nvdisasm")
    nvcc_is(monkeypatch, Toolchains((whole,)))
    done = run("doctor", "--cache-dir", str(tmp_path / "cache"))
    assert done.return_value == 0, done.output
    assert "  nvcc      13.0.88, sm_75 to sm_121, /t/nvcc\n" in done.output
    assert f"  cache     {tmp_path}/cache, 0.0 MB of 500 MB\n" in done.output
    assert "!" not in done.output


def test_what_lacks_is_said_with_what_it_costs(monkeypatch: pytest.MonkeyPatch) -> None:
    nvcc_is(monkeypatch, Toolchains((), ("/t/nvcc is 11.8, older than 12.0",)))
    done = run("doctor", "--no-cache", "--format", "json")
    assert done.return_value == 1
    parts = [(part["name"], part["found"], part["lack"]) for part in json.loads(done.output)]
    assert ("nvcc", "/t/nvcc is 11.8, older than 12.0", "it is not used") in parts
    assert any(name == "nvcc" and "install a CUDA toolkit" in lack for name, _, lack in parts)
    assert ("cache", "none", "everything is read anew in each run") in parts


def test_libclang_that_cannot_be_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    from cudalint.semantics.sandbox import ClangError

    def broken(*_: object) -> None:
        raise ClangError("libclang can't be loaded")

    nvcc_is(monkeypatch, Toolchains())
    monkeypatch.setattr("cudalint.semantics.clang.kernels", broken)
    done = run("doctor", "--no-cache")
    assert done.return_value == 1
    assert "! libclang  libclang can't be loaded\n" in done.output


def test_a_folder_that_can_hold_no_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nvcc_is(monkeypatch, Toolchains())
    (tmp_path / "file").write_text("")
    assert "can't be written" in run("doctor", "--cache-dir", str(tmp_path / "file" / "x")).output


def test_a_bound_of_the_cache_that_is_no_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nvcc_is(monkeypatch, Toolchains())
    monkeypatch.setenv("CUDALINT_CACHE_MAX_SIZE", "1 GB")
    assert "CUDALINT_CACHE_MAX_SIZE is '1 GB', no number of bytes" in (
        run("doctor", "--cache-dir", str(tmp_path)).output
    )
    monkeypatch.setenv("CUDALINT_CACHE_MAX_SIZE", "2000000000")
    assert f"{tmp_path}, 0.0 MB of 2000 MB" in run("doctor", "--cache-dir", str(tmp_path)).output


def test_clean_deletes_what_is_ours_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_files(tmp_path, {"a.cu": "int x;\n", "cache/notes.txt": "mine"})
    monkeypatch.chdir(tmp_path)
    cache = ("--cache-dir", str(tmp_path / "cache"))
    run("check", "a.cu", "--compile", "never", "--isolated", *cache)
    assert (tmp_path / "cache" / "models").is_dir()
    assert "MB deleted in" in run("clean", *cache).output
    assert not (tmp_path / "cache" / "models").exists()
    assert (tmp_path / "cache" / "notes.txt").read_text() == "mine"
    assert run("clean", *cache).output == f"nothing in {tmp_path}/cache\n"


def test_clean_without_a_folder_is_one_line() -> None:
    done = CliRunner().invoke(cli, ["clean", "--no-cache"])
    assert done.exit_code == 2
    assert "there is no cache folder to clean" in done.output
