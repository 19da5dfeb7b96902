"""cudalint as its users get it: a repository with a release tag, and a wheel beside it.

Made once for a test run, of the working tree, and shared by its processes, as are the
environments that pre-commit installs from it. The address that users write in their
files (https://github.com/cudalint/cudalint) leads to it by git's own configuration.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from filelock import FileLock

import cudalint
from cudalint.rulepage import HOME

ROOT = Path(__file__).parents[1]
PARTS = ("src", "pyproject.toml", "README.md", ".pre-commit-hooks.yaml", "action.yml")

_GITCONFIG = """\
[user]
    name = Tester
    email = tester@example.org
[url "file://{repository}"]
    insteadOf = {home}
[advice]
    detachedHead = false
"""


class Published:
    """The `repository`, the folder of the wheel, and the environment of a user of theirs."""

    def __init__(self, folder: Path) -> None:
        self.repository = folder / "cudalint"
        self.wheels = folder / "wheels"
        self._home = folder / "home"
        cache = os.environ.get("PIP_CACHE_DIR") or str(Path.home() / ".cache" / "pip")
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("GIT_", "PIP_REQ", "PYTEST_", "CUDA_"))
            and name != "VIRTUAL_ENV"
        }
        self.environment = {
            **kept,
            "HOME": str(self._home),
            "PATH": os.pathsep.join(self._without_nvcc(kept["PATH"])),
            "PIP_CACHE_DIR": cache,
            "PIP_CONSTRAINT": str(ROOT / "requirements-dev.lock"),
            "PIP_FIND_LINKS": f"{self.wheels} {kept.get('PIP_FIND_LINKS', '')}".strip(),
            "PIP_NO_COMPILE": "1",
            "PRE_COMMIT_HOME": str(folder / "pre-commit"),
            "CUDALINT_CACHE_DIR": str(folder / "cache"),
        }

    def _without_nvcc(self, path: str) -> Iterator[str]:
        """PATH without this Python's own environment; a folder with an nvcc is one of links."""
        for folder in path.split(os.pathsep):
            if folder != str(Path(sys.executable).parent):
                yield str(self._links(folder)) if Path(folder, "nvcc").exists() else folder

    def _links(self, folder: str) -> Path:
        return self._home / "programs" / folder.strip("/").replace("/", "-")

    def git(self, *arguments: str, folder: Path) -> str:
        """Run git there. Raises AssertionError with what it printed when it fails."""
        command = ["git", *arguments]
        done = subprocess.run(
            command, cwd=folder, env=self.environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def make(self) -> None:
        """Make it, where no other process did."""
        self._home.mkdir(parents=True)
        for folder in os.environ["PATH"].split(os.pathsep):
            if Path(folder, "nvcc").exists():
                self._links(folder).mkdir(parents=True)
                for program in Path(folder).iterdir():
                    if not program.name.startswith("nvcc"):
                        (self._links(folder) / program.name).symlink_to(program)
        text = _GITCONFIG.format(repository=self.repository, home=HOME)
        (self._home / ".gitconfig").write_text(text)
        self.repository.mkdir()
        for source in (*(ROOT / part for part in PARTS), *ROOT.glob("LICENSE-*")):
            if source.is_dir():
                ignored = shutil.ignore_patterns("__pycache__")
                shutil.copytree(source, self.repository / source.name, ignore=ignored)
            else:
                shutil.copy(source, self.repository)
        self.git("init", "--quiet", "--initial-branch=main", folder=self.repository)
        self.git("add", "--all", folder=self.repository)
        self.git("commit", "--quiet", "--message", "A release", folder=self.repository)
        self.git("tag", f"v{cudalint.__version__}", folder=self.repository)
        pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
        pip += ["--wheel-dir", str(self.wheels), str(self.repository)]
        subprocess.run(pip, check=True, env=self.environment, capture_output=True, timeout=300)


def publish(factory: pytest.TempPathFactory) -> Published:
    """What is published, made now or by another process of the same test run."""
    base = factory.getbasetemp()
    # Each process of pytest-xdist has a folder of its own below the run's.
    base = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    published = Published(base / "published")
    with FileLock(base / "published.lock"):
        if not published.wheels.is_dir():
            published.make()
    return published
