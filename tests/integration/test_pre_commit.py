"""The hooks, run by the real pre-commit on a scratch repository: a good commit and a bad one.

pre-commit installs cudalint from this repository's working tree into an
environment of its own; `try-repo` does so each time, `run` once.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import write_files

ROOT = Path(__file__).parents[2]
SPDX = "// SPDX-License-Identifier: MIT OR Apache-2.0\n"
GOOD = SPDX + 'extern "C" __global__ void __launch_bounds__(64) k(float* x) { *x = 1; }\n'
BAD = SPDX + 'extern "C" __global__ void k(float* x) { *x = 1; }\n'

HOOKS = ("cudalint", "cudalint-tree", "cudalint-compile")

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")


class Repository:
    """A scratch git repository, and the copy of cudalint that its hooks come from."""

    def __init__(self, folder: Path, hooks: Path) -> None:
        self.folder = folder
        self._hooks = hooks
        self._env = {
            **{k: v for k, v in os.environ.items() if not k.startswith(("GIT_", "PIP_REQ"))},
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_CONFIG_SYSTEM": "/dev/null",
            "PIP_NO_COMPILE": "1",
            "PRE_COMMIT_HOME": str(hooks.parent / "pre-commit"),
            "CUDALINT_CACHE_DIR": str(hooks.parent / "cache"),
        }
        self.git("init", "--quiet")

    def git(self, *arguments: str, folder: Path | None = None) -> str:
        identity = ("-c", "user.name=Tester", "-c", "user.email=tester@example.org")
        command = ["git", *identity, *arguments]
        where = folder or self.folder
        done = subprocess.run(command, cwd=where, env=self._env, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def try_repo(self, name: str) -> subprocess.CompletedProcess[str]:
        """Stage everything, and run one hook on it with `pre-commit try-repo`."""
        self.git("add", "--all")
        return self._pre_commit("try-repo", str(self._hooks), name)

    def hook(self, name: str) -> subprocess.CompletedProcess[str]:
        """Stage everything, and run one hook on it as a commit would."""
        revision = self.git("rev-parse", "HEAD", folder=self._hooks).strip()
        ids = "".join(f"{{id: {hook}}}, " for hook in HOOKS)
        config = f"repos: [{{repo: '{self._hooks}', rev: {revision}, hooks: [{ids}]}}]\n"
        (self.folder / ".pre-commit-config.yaml").write_text(config)
        self.git("add", "--all")
        return self._pre_commit("run", name)

    def _pre_commit(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "pre_commit", *arguments],
            cwd=self.folder,
            env=self._env,
            capture_output=True,
            text=True,
            timeout=300,
        )


@pytest.fixture(scope="module")
def hooks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What would be published of the working tree, as a repository of its own."""
    copy = tmp_path_factory.mktemp("hooks") / "cudalint"
    copy.mkdir()
    for name in ("src", "pyproject.toml", "README.md", ".pre-commit-hooks.yaml"):
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, copy / name)
    for licence in ROOT.glob("LICENSE-*"):
        shutil.copy(licence, copy)
    repository = Repository(copy, copy)
    repository.git("add", "--all")
    repository.git("commit", "--quiet", "-m", "The hooks")
    return copy


@pytest.fixture
def repository(tmp_path: Path, hooks: Path) -> Repository:
    folder = tmp_path / "repository"
    folder.mkdir()
    return Repository(folder, hooks)


def test_a_good_commit_and_a_bad_one(repository: Repository) -> None:
    write_files(repository.folder, {"k.cu": GOOD, "notes.md": "# Notes\n"})
    good = repository.try_repo("cudalint")
    assert good.returncode == 0, good.stdout + good.stderr
    assert "Passed" in good.stdout
    write_files(repository.folder, {"k.cu": BAD})
    bad = repository.try_repo("cudalint")
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


@pytest.mark.nvcc
def test_the_compile_hook(repository: Repository, toolchains: object) -> None:
    write_files(repository.folder, {"k.cu": GOOD})
    assert repository.hook("cudalint-compile").returncode == 0
    write_files(repository.folder, {"k.cu": GOOD.replace("*x = 1", "*x = nothing")})
    bad = repository.hook("cudalint-compile")
    assert bad.returncode == 1
    assert "k.cu:2:69: error CU508" in bad.stdout
