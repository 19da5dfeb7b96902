"""Calling nvcc by ccache and its like: which program may be, and what comes out."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from fake_nvcc import FakeNvcc

from conftest import lint, write_files
from cudalint.compile.launcher import find_launcher
from cudalint.compile.model import CompiledFile
from cudalint.compile.stage import CompileRequest, compile_files
from cudalint.compile.toolchain import Toolchains
from cudalint.settings.origin import SettingsError

KERNEL = """\
#include "scale.cuh"
#define KEPT 56
extern "C" __global__ void __launch_bounds__(512, 3) turn(const float* x, float* y) {
  int unused;
  float v[KEPT];
#pragma unroll
  for (int i = 0; i < KEPT; ++i) v[i] = scale(x[i * 512 + threadIdx.x]);
  __syncthreads();
#pragma unroll
  for (int i = 0; i < KEPT; ++i) y[i * 512 + threadIdx.x] = v[KEPT - 1 - i];
}
"""
HEADER = "__device__ inline float scale(float x) { return 2.0f * x; }\n"


def program(path: Path, text: str = '#!/bin/sh\nexec "$@"\n') -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def test_known_names_are_looked_for_outside_the_tree(tmp_path: Path) -> None:
    root, outside = tmp_path / "tree", tmp_path / "bin"
    program(root / "bin" / "ccache")
    linked = tmp_path / "linked"
    linked.mkdir()
    (linked / "ccache").symlink_to(root / "bin" / "ccache")
    searched = f"bin:.::{root}/bin:{linked}:{outside}"
    assert find_launcher("ccache", root, {"PATH": searched}) is None
    found = program(outside / "ccache")
    assert find_launcher("ccache", root, {"PATH": searched}) == str(found)
    assert find_launcher("sccache", root, {"PATH": searched}) is None
    found.chmod(0o644)
    assert find_launcher("ccache", root, {"PATH": searched}) is None


def test_a_path_is_the_program_itself_and_never_in_the_tree(tmp_path: Path) -> None:
    own = program(tmp_path / "tools" / "launch")
    assert find_launcher(str(own), tmp_path / "tree", {}) == str(own)
    assert find_launcher(str(own), tmp_path, {}) is None
    assert find_launcher(str(own.parent), tmp_path / "tree", {}) is None
    assert find_launcher("/no/such/program", tmp_path / "tree", {}) is None


@pytest.mark.parametrize("value", ["/usr/bin/env", "./ccache", "env", "ccache --dir x"])
def test_settings_name_no_other_program(tmp_path: Path, value: str) -> None:
    write_files(tmp_path, {"a.cu": "int x;\n", "cudalint.toml": f"compiler-launcher = '{value}'\n"})
    with pytest.raises(SettingsError) as caught:
        lint(tmp_path)
    place = "cudalint.toml:1:21: compiler-launcher: "
    expected = f"{place}'{value}' is none of ccache, sccache, distcc"
    assert str(caught.value).startswith(expected)


def test_nvcc_is_called_by_the_launcher_in_two_runs(tmp_path: Path) -> None:
    nvcc = FakeNvcc(tmp_path / "bin")
    log = tmp_path / "log"
    launcher = program(
        tmp_path / "launch",
        f'#!/bin/sh\necho "$CCACHE_NOHASHDIR$CCACHE_BASEDIR $1" >> {log}\nexec "$@"\n',
    )
    write_files(tmp_path / "tree", {"a.cu": "// one\n"})
    request = CompileRequest("a.cu", str(tmp_path / "tree"), "sm_121")
    (file,) = compile_files([request], nvcc.toolchains, 1, 10.0, None, launcher=str(launcher))
    (compilation,) = file.compilations
    assert compilation.failure == ""
    assert log.read_text() == f"1 {nvcc.path}\n"
    first, second = nvcc.calls
    assert first.startswith("-c -ptx -arch=sm_121 ")
    assert "-MD -MF out.d -o out.ptx " in first
    assert second.endswith(
        "-cubin -lineinfo -Xptxas -v -Wno-deprecated-gpu-targets -o out.cubin out.ptx"
    )


def test_a_launcher_that_fails_is_a_failure_of_the_compile(tmp_path: Path) -> None:
    nvcc = FakeNvcc(tmp_path / "bin")
    launcher = program(tmp_path / "launch", "#!/bin/sh\necho 'no space' >&2\nexit 3\n")
    write_files(tmp_path / "tree", {"a.cu": "// one\n"})
    request = CompileRequest("a.cu", str(tmp_path / "tree"), "sm_121")
    (file,) = compile_files([request], nvcc.toolchains, 1, 10.0, None, launcher=str(launcher))
    assert file.compilations[0].failure == "nvcc exited with status 3: no space"
    assert nvcc.calls == []


@pytest.mark.parametrize(
    ("asked", "level", "code"), [(None, "warning", 0), ("sccache", "error", 2)]
)
def test_a_launcher_that_is_missing_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: str | None, level: str, code: int
) -> None:
    nvcc = FakeNvcc(tmp_path / "bin")
    program(tmp_path / "bin" / "gcc")
    monkeypatch.setenv("PATH", str(tmp_path / "bin") + ":/nowhere")
    monkeypatch.setattr("cudalint.compile.stage.find_toolchains", lambda: nvcc.toolchains)
    root = tmp_path / "tree"
    settings = 'targets = ["sm_121"]\ncompiler-launcher = "ccache"\n'
    write_files(root, {"cudalint.toml": settings, "a.cu": "// one\n"})
    more = {"compile": "always", "compiler_launcher": asked}
    run = lint(root, select=("CU501",), **more)
    (note,) = run.notifications
    assert (note.id, note.level.value, run.exit_code) == ("no-launcher", level, code)
    assert note.message.startswith(f"there is no compiler launcher '{asked or 'ccache'}' on PATH")
    more["compiler_launcher"] = "none"
    assert lint(root, select=("CU501",), **more).notifications == ()


class CCache:
    """The real ccache, with a cache of its own."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        found = shutil.which("ccache")
        if found is None:
            pytest.skip("no ccache on PATH (on Debian and Ubuntu: apt install ccache)")
        self.path = found
        for name in ("CCACHE_DISABLE", "CCACHE_READONLY", "CCACHE_RECACHE", "CCACHE_CONFIGPATH"):
            patch.delenv(name, raising=False)
        patch.setenv("CCACHE_DIR", str(folder))

    def counts(self) -> dict[str, int]:
        done = subprocess.run(
            [self.path, "--print-stats"], capture_output=True, text=True, check=True
        )
        pairs = (line.split("\t") for line in done.stdout.splitlines())
        return {name: int(value) for name, value in pairs}

    @property
    def hits(self) -> int:
        counts = self.counts()
        return counts["direct_cache_hit"] + counts["preprocessed_cache_hit"]


@pytest.mark.nvcc
def test_ccache_hits_the_second_time_and_nothing_is_lost(
    toolchains: Toolchains, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ccache = CCache(tmp_path / "ccache", monkeypatch)
    root = tmp_path / "tree"
    write_files(root, {"a.cu": KERNEL, "inc/scale.cuh": HEADER})
    request = CompileRequest("a.cu", str(root), "sm_90", include_paths=("inc",))

    def compiled(launcher: str | None) -> CompiledFile:
        (file,) = compile_files([request], toolchains, 1, 120.0, None, launcher=launcher)
        return file

    alone = compiled(None)
    (compilation,) = alone.compilations
    (function,) = compilation.functions
    assert function.spill_stores > 0
    assert (function.max_threads, function.min_blocks) == (512, 3)
    assert [found.line for found in compilation.diagnostics] == [4]
    assert compilation.dependencies == ("a.cu", "inc/scale.cuh")
    assert compiled(ccache.path) == alone
    assert (ccache.hits, ccache.counts()["cache_miss"]) == (0, 1)
    assert compiled(ccache.path) == alone
    assert (ccache.hits, ccache.counts()["cache_miss"]) == (1, 1)
    (root / "inc" / "scale.cuh").write_text(HEADER.replace("2.0f * x", "x"))
    compiled(ccache.path)
    assert (ccache.hits, ccache.counts()["cache_miss"]) == (1, 2)


@pytest.mark.nvcc
def test_settings_of_ccache_that_would_change_the_answer_do_not(
    toolchains: Toolchains, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A base folder would make paths relative to a folder that is gone, and `-g` hash it."""
    ccache = CCache(tmp_path / "ccache", monkeypatch)
    root = tmp_path / "tree"
    write_files(root, {"a.cu": KERNEL, "scale.cuh": HEADER})
    write_files(tmp_path / "ccache", {"ccache.conf": f"base_dir = {tmp_path}\n"})
    request = CompileRequest("a.cu", str(root), "sm_90", flags=("-g", "-O2"))
    files = [
        compile_files([request], toolchains, 1, 120.0, None, launcher=launcher)
        for launcher in (None, ccache.path, ccache.path)
    ]
    assert files[0] == files[1] == files[2]
    assert files[0][0].compilations[0].diagnostics[0].path == "a.cu"
    assert ccache.hits == 1


@pytest.mark.parametrize("name", ["ccache", "sccache", "distcc"])
def test_the_names_that_settings_may_say(tmp_path: Path, name: str) -> None:
    found = program(tmp_path / "bin" / name)
    where = {"PATH": str(tmp_path / "bin")}
    assert find_launcher(name, tmp_path / "tree", where) == str(found)
