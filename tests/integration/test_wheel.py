"""The wheel holds what the package needs: it works from a folder of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import cudalint
from conftest import write_files
from published import Published

# A type that only libclang can tell, for which it needs the stub headers.
HIDDEN_VOID = """\
// SPDX-License-Identifier: MIT OR Apache-2.0
template <class T> struct Pointee { using type = T*; };
extern "C" __global__ void __launch_bounds__(32) k(Pointee<const void>::type p) {}
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory, published: Published) -> Path:
    """The wheel's content in a folder, without its dependencies."""
    (wheel,) = published.wheels.glob("*.whl")
    target = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    install = [*pip, "install", "--no-deps", "--target", str(target), str(wheel)]
    subprocess.run(install, check=True, capture_output=True, timeout=300)
    return target


def start(installed: Path, root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(installed / "bin" / "cudalint"), *arguments]
    env = {**os.environ, "PYTHONPATH": str(installed)}
    return subprocess.run(command, cwd=root, env=env, capture_output=True, text=True, timeout=60)


def test_it_is_the_wheels_copy_that_runs(installed: Path) -> None:
    command = [sys.executable, "-c", "import cudalint; print(cudalint.__file__)"]
    env = {**os.environ, "PYTHONPATH": str(installed)}
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60)
    assert done.stdout == f"{installed}/cudalint/__init__.py\n"


def test_the_version(installed: Path, tmp_path: Path) -> None:
    said = start(installed, tmp_path, "--version").stdout.splitlines()
    assert said[0] == f"cudalint {cudalint.__version__}"
    assert [line.split()[0] for line in said[1:]] == ["tree-sitter", "libclang", "nvcc"]


def test_a_page_that_needs_the_shipped_style_and_script(installed: Path, tmp_path: Path) -> None:
    write_files(tmp_path, {"a.cu": HIDDEN_VOID})
    done = start(installed, tmp_path, "--compile", "never", "--output", "html", "a.cu")
    assert (done.returncode, done.stderr) == (1, "")
    assert "prefers-color-scheme" in done.stdout
    assert "addEventListener" in done.stdout


def test_a_run_that_needs_the_shipped_headers(installed: Path, tmp_path: Path) -> None:
    write_files(tmp_path, {"a.cu": HIDDEN_VOID})
    done = start(installed, tmp_path, "--compile", "never", "--output-format", "concise", "a.cu")
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith("a.cu:3:52: error CU106 ")


def test_what_is_in_it(installed: Path) -> None:
    assert (installed / "cudalint" / "py.typed").is_file()
    assert {path.name for path in installed.iterdir()} == {
        "bin",
        "cudalint",
        f"cudalint-{cudalint.__version__}.dist-info",
    }
