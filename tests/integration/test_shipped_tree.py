"""The shipped kernels keep every rule: all selected, previews too, notes included."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cudalint.compile.toolchain import find_toolchains

ROOT = Path(__file__).parents[2]
LINT = (sys.executable, "-m", "cudalint", "kernels", "--select", "ALL", "--preview", "--strict")


@pytest.mark.skipif(not (ROOT / "kernels").is_dir(), reason="the kernels are not here")
def test_no_rule_finds_anything_in_the_sources(tmp_path: Path) -> None:
    command = [*LINT, "--compile", "never", "--cache-dir", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("\n") == 1
    assert "kernels in" in done.stdout


@pytest.mark.nvcc
@pytest.mark.skipif(
    not find_toolchains().found or shutil.which("gcc") is None, reason="no nvcc with a gcc"
)
def test_no_rule_finds_anything_in_what_nvcc_makes_of_them(tmp_path: Path) -> None:
    command = [*LINT, "--compile", "always", "--cache-dir", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    # The kernels are recorded of two versions of nvcc; with a third one, that is said.
    other_nvcc = "cudalint: note: kernels/resources.toml is of nvcc "
    said = [line for line in done.stderr.splitlines() if not line.startswith(other_nvcc)]
    assert (done.returncode, said) == (0, [])
    assert "skipped" not in done.stdout
