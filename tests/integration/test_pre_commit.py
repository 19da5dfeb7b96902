"""The hooks, run by the real pre-commit on a scratch repository: a good commit and a bad one.

The configuration is the one that `cudalint init --pre-commit` writes; its repository leads
to a copy of the working tree, from which pre-commit installs environments once.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import write_files
from cudalint.settings.starting import PRE_COMMIT
from published import Published

SPDX = "// SPDX-License-Identifier: MIT OR Apache-2.0\n"
GOOD = SPDX + 'extern "C" __global__ void __launch_bounds__(64) k(float* x) { *x = 1; }\n'
BAD = SPDX + 'extern "C" __global__ void k(float* x) { *x = 1; }\n'

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")


class Repository:
    """A scratch git repository with the hooks."""

    def __init__(self, folder: Path, published: Published) -> None:
        self.folder = folder
        self._published = published
        self.git("init", "--quiet")
        (folder / ".pre-commit-config.yaml").write_text(f"repos:\n{PRE_COMMIT}")

    def git(self, *arguments: str) -> str:
        return self._published.git(*arguments, folder=self.folder)

    def hook(self, name: str) -> subprocess.CompletedProcess[str]:
        """Stage everything, and run one hook on it as a commit would."""
        self.git("add", "--all")
        return subprocess.run(
            [sys.executable, "-m", "pre_commit", "run", name],
            cwd=self.folder,
            env=self._published.environment,
            capture_output=True,
            text=True,
            timeout=600,
        )


@pytest.fixture
def repository(tmp_path: Path, published: Published) -> Repository:
    folder = tmp_path / "repository"
    folder.mkdir()
    return Repository(folder, published)


def test_a_good_commit_and_a_bad_one(repository: Repository) -> None:
    write_files(repository.folder, {"k.cu": GOOD, "notes.md": "# Notes\n"})
    good = repository.hook("cudalint")
    assert good.returncode == 0, good.stdout + good.stderr
    assert "Passed" in good.stdout
    write_files(repository.folder, {"k.cu": BAD})
    bad = repository.hook("cudalint")
    assert bad.returncode == 1
    assert "k.cu:2:28: warning CU108" in bad.stdout


def test_what_is_excluded_does_not_hold_up_a_commit(repository: Repository) -> None:
    write_files(repository.folder, {"k.cu": BAD, "cudalint.toml": 'exclude = ["k.cu"]\n'})
    excluded = repository.hook("cudalint")
    assert excluded.returncode == 0, excluded.stdout


def test_a_changed_file_is_judged_with_the_tree_around_it(repository: Repository) -> None:
    tree = {"kernels/hw/common/k.cu": GOOD, "kernels/hw/m/q/KERNEL.toml": ""}
    write_files(repository.folder, {"cudalint.toml": "", **tree})
    assert repository.hook("cudalint-tree").returncode == 0
    repository.git("commit", "--quiet", "-m", "A tree")
    write_files(repository.folder, {"kernels/hw/m/q/k.cu": GOOD.replace("64", "32")})
    for hook in ("cudalint", "cudalint-tree"):
        bad = repository.hook(hook)
        assert bad.returncode == 1, bad.stdout
        assert "kernels/hw/m/q/k.cu:1:1: error CU401" in bad.stdout


def test_a_manifest_alone_wakes_the_tree_hook(repository: Repository) -> None:
    tree = {"kernels/hw/common/k.cu": GOOD, "kernels/hw/m/q/k.cu": GOOD.replace("64", "32")}
    manifest = '[shadow]\nk = "half a warp pair: small heads"\n'
    write_files(repository.folder, {**tree, "kernels/hw/m/q/KERNEL.toml": manifest})
    assert repository.hook("cudalint-tree").returncode == 0
    repository.git("commit", "--quiet", "-m", "A tree")
    write_files(repository.folder, {"kernels/hw/m/q/KERNEL.toml": manifest + "[shadows]\n"})
    bad = repository.hook("cudalint-tree")
    assert bad.returncode == 1
    assert "kernels/hw/m/q/KERNEL.toml:3:2: error CU406" in bad.stdout
    assert "Skipped" in repository.hook("cudalint").stdout


def test_the_compile_hook_brings_its_nvcc(repository: Repository) -> None:
    write_files(repository.folder, {"k.cu": GOOD})
    assert repository.hook("cudalint-compile").returncode == 0
    write_files(repository.folder, {"k.cu": GOOD.replace("*x = 1", "*x = nothing")})
    bad = repository.hook("cudalint-compile")
    assert bad.returncode == 1
    assert "k.cu:2:69: error CU508" in bad.stdout
