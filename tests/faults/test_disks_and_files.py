"""Disks that are full or read-only, and files that change under the reader: whole processes."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cudalint.discovery.read import read_source

SPDX = "// SPDX-License-Identifier: MIT OR Apache-2.0\n"
PRINTS = SPDX + (
    '#include <cstdio>\nextern "C" __global__ void __launch_bounds__(64) k(float* x)'
    ' {\n  printf("%f", *x);\n  *x = 1;\n}\n'
)
PADDING = "// " + "x" * 97 + "\n"
COMMAND = (sys.executable, "-m", "cudalint", "check", "--isolated", "--compile", "never")


def files_of(folder: Path) -> dict[str, bytes]:
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


def up_to(size: int) -> None:
    """In the child: no file may grow beyond `size` bytes, as on a disk that is full."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--fix", "--no-cache"), "cudalint: error: cannot change 'p.cu': File too large"),
        (
            ("--add-suppressions", "--reason", "known", "--no-cache"),
            "cudalint: error: cannot change 'p.cu': File too large",
        ),
        (
            ("--no-cache", "--output", "sarif:old.sarif"),
            "cudalint: error: cannot write old.sarif: File too large",
        ),
        (
            ("--cache-dir", "../cache"),
            "cudalint: warning: cannot write the cache in ../cache: File too large",
        ),
    ],
)
def test_a_disk_that_is_full(arguments: tuple[str, ...], complaint: str, tmp_path: Path) -> None:
    """What was there is as it was, and nothing half-written is left."""
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "p.cu").write_text(PRINTS + PADDING * 30)
    (tree / "old.sarif").write_text("{}")
    before = files_of(tmp_path)
    done = subprocess.run(
        [*COMMAND, *arguments, "p.cu"],
        cwd=tree,
        capture_output=True,
        text=True,
        timeout=120,
        preexec_fn=lambda: up_to(700),
    )
    assert complaint in done.stderr.splitlines()
    after = files_of(tmp_path)
    assert {name: after.get(name) for name in before} == before
    drafts = {Path(name).suffix for name in after.keys() - before.keys()} - {"", ".TAG"}
    assert drafts == set()


@pytest.mark.skipif(shutil.which("unshare") is None, reason="needs unshare")
def test_a_tree_and_a_home_on_a_read_only_disk(tmp_path: Path) -> None:
    """Mounted so, since root may write whatever the permissions say."""
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "p.cu").write_text(PRINTS)
    mount = f"mount --bind {tmp_path} {tmp_path} && mount -o remount,ro,bind {tmp_path}"
    command = ["unshare", "--mount", "sh", "-c", f'{mount} && cd {tree} && exec "$@"', "sh"]
    if subprocess.run([*command, "true"], capture_output=True, check=False).returncode:
        pytest.skip("nothing may be mounted here")
    home = {**os.environ, "HOME": str(tmp_path), "XDG_CACHE_HOME": ""}
    home.pop("CUDALINT_CACHE_DIR", None)

    def start(*more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*command, *COMMAND, *more, "p.cu"],
            env=home,
            capture_output=True,
            text=True,
            timeout=120,
        )

    plain = start("--output-format", "concise")
    assert plain.returncode == 1
    assert [line.split()[2] for line in plain.stdout.splitlines()[:-1]] == ["CU103", "CU201"]
    assert plain.stderr == (
        f"cudalint: warning: cannot write the cache in {tmp_path}/.cache/cudalint: "
        "Read-only file system\n"
    )
    fixed = start("--fix", "--no-cache")
    assert fixed.returncode == 2
    assert "cudalint: error: cannot change 'p.cu': it is read-only" in fixed.stderr
    assert files_of(tmp_path) == {"tree/p.cu": PRINTS.encode()}


@pytest.mark.parametrize(
    ("size", "held", "problem"),
    [
        (9, b"y" * 9, None),
        (100, b"y" * 100, None),
        (0, b"", None),
        (1001, b"", "more than max-file-size (1000 bytes)"),
        (5_000_000, b"", "more than max-file-size (1000 bytes)"),
    ],
)
def test_a_file_that_grows_or_shrinks_while_it_is_read(
    size: int, held: bytes, problem: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is read is what is there then, and never more than the limit."""
    file = tmp_path / "a.cu"
    file.write_bytes(b"x" * 50)
    real = os.fstat

    def late(descriptor: int) -> os.stat_result:
        status = real(descriptor)
        file.write_bytes(b"y" * size)
        return status

    monkeypatch.setattr("cudalint.discovery.read.os.fstat", late)
    read = read_source(str(file), "a.cu", limit=1000)
    assert (read.data, read.problem) == (held, problem)
