"""--diff-base: what a change brings, with git as it is."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from test_cli import NEVER, SPDX, start

from conftest import write_files

OLD = SPDX + (
    "void first(cudaEvent_t e) {\n  cudaEventRecord(e);\n}\n\n"
    "void second(cudaEvent_t e) {\n  cudaEventRecord(e);\n}\n"
)


def git(root: Path, *arguments: str) -> None:
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    identity = ("-c", "user.name=X", "-c", "user.email=x@example.org")
    command = ["git", *identity, *arguments]
    subprocess.run(command, cwd=root, env=environment, check=True, capture_output=True)


def commit(root: Path, files: dict[str, str | bytes]) -> None:
    write_files(root, files)
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "x")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    git(root, "init", "--quiet", "--initial-branch=main")
    commit(root, {"a.cu": OLD, "b.cu": OLD})
    return root


def new(root: Path, *more: str, base: str = "main") -> list[str]:
    """Where the findings are that are new since `base`."""
    options = (*NEVER, "--no-cache", "--diff-base", base, "--output-format", "concise")
    done = start(root, *options, *more, ".")
    assert done.stderr == ""
    lines = [line.split(": ") for line in done.stdout.splitlines()]
    places = [line[0] for line in lines if len(line) > 1 and "error CU" in line[1]]
    assert done.returncode == (1 if places else 0)
    return places


def test_a_tree_without_changes_has_nothing_new(tree: Path) -> None:
    assert new(tree) == []
    text = start(tree, *NEVER, "--diff-base", "main", ".").stdout
    assert text.startswith("4 in unchanged code\n")
    assert start(tree, *NEVER, ".").returncode == 1


def test_changed_lines_heads_and_new_files(tree: Path) -> None:
    moved = OLD.replace("void first(cudaEvent_t e) {", "// words\nvoid first(cudaEvent_t e) {")
    write_files(tree, {"a.cu": moved})
    assert new(tree) == []
    write_files(tree, {"a.cu": OLD.replace("second(cudaEvent_t e)", "second(int, cudaEvent_t e)")})
    assert new(tree) == ["a.cu:7:3"]
    write_files(tree, {"a.cu": OLD.replace("(e);", "(e);;", 1), "c.cu": OLD})
    assert new(tree) == ["a.cu:3:3", "c.cu:3:3", "c.cu:7:3"]
    write_files(tree, {"a.cu": OLD.replace("\n\n", "\n"), "c.cu": SPDX})
    assert new(tree) == []


def test_lines_that_are_gone_count_at_their_place(tree: Path) -> None:
    write_files(tree, {"b.cu": OLD.removeprefix(SPDX)})
    assert "b.cu:1:1" in new(tree)


def test_committed_and_staged_changes_count_from_the_merge_base(tree: Path) -> None:
    git(tree, "switch", "--quiet", "--create", "topic")
    commit(tree, {"a.cu": OLD.replace("(e);", "(e);;", 1)})
    git(tree, "switch", "--quiet", "main")
    commit(tree, {"b.cu": OLD + "\n"})
    git(tree, "switch", "--quiet", "topic")
    assert new(tree) == ["a.cu:3:3"]
    assert new(tree, base="topic") == []


def test_a_file_that_was_renamed_is_not_new(tree: Path) -> None:
    git(tree, "switch", "--quiet", "--create", "topic")
    git(tree, "mv", "a.cu", "moved.cu")
    commit(tree, {})
    assert new(tree) == []


def test_line_ends_alone_are_no_change(tree: Path) -> None:
    write_files(tree, {"a.cu": OLD.replace("\n", "\r\n")})
    assert new(tree) == []


def test_a_call_chain_that_is_new_brings_what_it_makes_hot(tree: Path) -> None:
    wait = SPDX + "void wait() {\n  cudaDeviceSynchronize();\n}\n"
    go = SPDX + (
        '#include "wait.cuh"\nextern "C" __global__ void __launch_bounds__(32) k(float* x)'
        " { *x = 1; }\nvoid go(cudaStream_t s, float* x) {\n  k<<<1, 32, 0, s>>>(x);\n}\n"
    )
    commit(tree, {"wait.cuh": wait, "go.cu": go, "cudalint.toml": ""})
    assert new(tree) == []
    write_files(tree, {"go.cu": go.replace("(x);\n", "(x);\n  wait();\n")})
    assert new(tree) == ["wait.cuh:3:3"]


def test_findings_of_trees_go_by_file(tree: Path) -> None:
    kernel = SPDX + 'extern "C" __global__ void __launch_bounds__(32) k(float* x) { *x = 1; }\n'
    hardware = '[hardware]\nname = "hw"\nvendor = "nvidia"\narch = "sm_121"\n'
    leaf = "kernels/hw/m/q"
    commit(
        tree,
        {
            "kernels/hw/HARDWARE.toml": hardware,
            "kernels/hw/common/k.cu": kernel,
            f"{leaf}/k.cu": kernel.replace("= 1", "= 2"),
            f"{leaf}/KERNEL.toml": '[shadow]\nk = "faster here"\n',
        },
    )
    assert new(tree) == []
    write_files(tree, {f"{leaf}/KERNEL.toml": "[shadow]\n"})
    assert new(tree, "--select", "CU4") == [f"{leaf}/k.cu:1:1"]
    git(tree, "checkout", "--quiet", f"{leaf}/KERNEL.toml")
    (tree / leaf / "k.cu").unlink()
    assert new(tree, "--select", "CU4") == [f"{leaf}/KERNEL.toml:2:1"]


def test_a_project_below_the_top_of_a_repository(tree: Path) -> None:
    commit(tree, {"sub/cudalint.toml": "", "sub/x.cu": OLD})
    assert new(tree / "sub") == []
    write_files(tree, {"sub/x.cu": OLD.replace("(e);", "(e);;", 1)})
    assert new(tree / "sub") == ["x.cu:3:3"]


def test_git_runs_nothing_of_the_repository(tree: Path) -> None:
    """No filter, hook, monitor or external diff that the repository names is ever started."""
    mark = tree.parent / "started"
    program = tree.parent / "program"
    program.write_text(f"#!/bin/sh\necho $0 >> {mark}\ncat\n")
    program.chmod(0o755)
    for key in ("filter.f.clean", "filter.f.smudge", "filter.f.process", "core.fsmonitor"):
        git(tree, "config", key, str(program))
    for key in ("diff.f.textconv", "diff.f.command", "diff.external", "core.sshCommand"):
        git(tree, "config", key, str(program))
    for hook in ("post-checkout", "post-index-change", "reference-transaction"):
        (tree / ".git/hooks" / hook).write_text(program.read_text())
        (tree / ".git/hooks" / hook).chmod(0o755)
    write_files(tree, {".gitattributes": "*.cu filter=f diff=f\n", "a.cu": OLD + "int x;\n"})
    index = (tree / ".git/index").read_bytes()
    assert new(tree) == []
    assert not mark.exists()
    assert (tree / ".git/index").read_bytes() == index


@pytest.mark.parametrize(
    ("base", "complaint"),
    [
        ("gone", "--diff-base: git knows no commit 'gone'"),
        ("--output=x", "--diff-base: git knows no commit '--output=x'"),
        ("HEAD:a.cu", "--diff-base: git knows no commit 'HEAD:a.cu'"),
    ],
)
def test_revisions_that_are_none(tree: Path, base: str, complaint: str) -> None:
    done = start(tree, *NEVER, f"--diff-base={base}", ".")
    assert (done.returncode, done.stderr) == (2, f"cudalint: error: {complaint}\n")
    assert not (tree / "x").exists()


def test_no_merge_base_no_repository_no_git(tree: Path, tmp_path: Path) -> None:
    git(tree, "switch", "--quiet", "--orphan", "other")
    commit(tree, {"z.cu": OLD})
    done = start(tree, *NEVER, "--diff-base", "main", ".")
    assert done.returncode == 2
    assert "there is no merge base of 'main' and HEAD" in done.stderr
    write_files(tmp_path, {"elsewhere/a.cu": OLD})
    done = start(tmp_path / "elsewhere", *NEVER, "--diff-base", "main", ".")
    assert done.returncode == 2
    assert done.stderr.startswith("cudalint: error: --diff-base: git says: not a git repository")
    done = start(tree, *NEVER, "--diff-base", "main", ".", PATH=str(tmp_path))
    assert done.stderr == "cudalint: error: --diff-base: git is needed for it, and there is none\n"
    done = start(tree, *NEVER, "--diff-base", "main", "--shard", "1/2", ".")
    assert "--diff-base can't go with --shard" in done.stderr
