"""`--shard` and `cudalint merge`: the joined log is that of the whole run, byte for byte."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from test_planted import _plant, _planted

from conftest import write_files
from forked import run_cudalint

ROOT = Path(__file__).parents[2]
SPDX = "// SPDX-License-Identifier: MIT OR Apache-2.0\n"


def start(
    root: Path, *arguments: str, path: str | None = None
) -> subprocess.CompletedProcess[bytes]:
    environment = None if path is None else {**os.environ, "PATH": path}
    return run_cudalint([*arguments], cwd=root, env=environment, timeout=300)


def joined(
    root: Path, out: Path, count: int, *arguments: str, path: str | None = None
) -> tuple[bytes, int]:
    """The joined log of `count` shards of a run, and the exit code of joining them."""
    logs = [str(out / f"{count}-{index}.sarif") for index in range(1, count + 1)]
    for index, log in enumerate(logs, 1):
        output = ("--shard", f"{index}/{count}", "--output", f"sarif:{log}")
        done = start(root, *arguments, *output, path=path)
        assert done.returncode in (0, 1), done.stderr
    merged = start(root, "merge", *reversed(logs))
    assert merged.stderr == b""
    return merged.stdout, merged.returncode


def check(root: Path, out: Path, *arguments: str, counts: tuple[int, ...] = (2, 3)) -> bytes:
    whole = start(root, *arguments, "--output-format", "sarif")
    for count in counts:
        assert joined(root, out, count, *arguments) == (whole.stdout, whole.returncode)
    return whole.stdout


@pytest.mark.parametrize("suppressed", ["omit", "include"])
def test_a_finding_of_every_rule_silenced_ones_too(tmp_path: Path, suppressed: str) -> None:
    tree, out = tmp_path / "tree", tmp_path / "out"
    out.mkdir()
    codes = _plant(tree, _planted(compiled=False))
    for file in sorted((tree / "CU302").glob("*.cu")):
        file.write_text(file.read_text() + "// NOLINTNEXTLINE(CU304): nothing there\n")
    silenced = {"silenced.cu": "// NOLINTBEGIN(CU101): a sample\n// NOLINTEND(CU101)\nint x;\n"}
    write_files(tree, silenced)
    arguments = ("--extend-select", ",".join(codes), "--compile", "never", ".")
    log = check(tree, out, *arguments, "--sarif-suppressed", suppressed)
    results = json.loads(log)["runs"][0]["results"]
    assert {result["ruleId"] for result in results} >= codes.keys()
    assert any(result.get("suppressions") for result in results) == (suppressed == "include")


@pytest.mark.nvcc
def test_a_finding_of_every_rule_on_compiles(tmp_path: Path, toolchains: object) -> None:
    tree, out = tmp_path / "tree", tmp_path / "out"
    out.mkdir()
    _plant(tree, _planted(compiled=True))
    log = check(tree, out, "--select", "CU5", "--compile", "always", ".", counts=(3,))
    assert {result["ruleId"] for result in json.loads(log)["runs"][0]["results"]} >= {
        *("CU501", "CU502", "CU503", "CU507", "CU508"),
    }


@pytest.mark.skipif(not (ROOT / "kernels").is_dir(), reason="the kernels are not here")
def test_the_shipped_kernels(tmp_path: Path) -> None:
    log = check(ROOT, tmp_path, "kernels", "--compile", "never", "--preview", counts=(4,))
    assert json.loads(log)["runs"][0]["results"] == []


def fake_nvcc(folder: Path) -> str:
    """A PATH with an nvcc whose complaints depend on the file that is compiled."""
    folder.mkdir()
    (folder / "gcc").write_text("#!/bin/sh\nexit 1\n")
    (folder / "nvcc").write_text(
        """\
#!/bin/sh
case "$1" in
  --version) echo 'Cuda compilation tools, release 13.0, V13.0.88'; exit;;
  --list-gpu-code) echo sm_121; exit;;
esac
for source; do :; done
while [ $# -gt 1 ]; do
  case "$1" in -o) output=$2;; -MF) listing=$2;; esac
  shift
done
folder=$(dirname "$source")
echo "$folder/shared.cuh(3): warning #177-D: variable \\"v\\" was declared but never referenced"
name=$(basename "$source" .cu)
echo "$folder/shared.cuh(3): warning #550-D: variable \\"$name\\" was set but never used"
spills=0; [ "$name" = leaf ] && spills=8
for kernel in k common; do
  echo "ptxas info    : Compiling entry function '$kernel' for 'sm_121'"
  echo "ptxas info    : Function properties for $kernel"
  echo "    0 bytes stack frame, $spills bytes spill stores, $spills bytes spill loads"
  echo "ptxas info    : Used 40 registers, used 0 barriers"
done
echo "$output : $source $folder/shared.cuh $folder/common.cu" > "$listing"
: > "$output"
"""
    )
    for program in ("gcc", "nvcc"):
        (folder / program).chmod(0o755)
    return f"{folder}:/usr/bin:/bin"


KERNEL = 'extern "C" __global__ void __launch_bounds__(64)\n{0}(float* x) {{ *x = 1; }}\n'


@pytest.mark.parametrize("suppressed", ["omit", "include"])
def test_headers_that_several_shards_compile(tmp_path: Path, suppressed: str) -> None:
    """One finding for all that compile the header; a suppression that only another's compile needs.

    `leaf.cu` alone makes the kernel of common.cu spill: the comment there is of
    use for its shard, and the one that owns common.cu must not call it idle.
    """
    tree = tmp_path / "tree"
    path = fake_nvcc(tmp_path / "bin")
    silenced = "// NOLINTNEXTLINE(CU501): known\n"
    common = KERNEL.format("common").replace("common(", f"{silenced}common(")
    write_files(
        tree,
        {
            "cudalint.toml": 'targets = ["sm_121"]\n',
            "shared.cuh": "#pragma once\n" + KERNEL.format("k"),
            "common.cu": f'{SPDX}#include "shared.cuh"\n{common}',
            "leaf.cu": f'{SPDX}#include "common.cu"\n',
            **{f"{name}.cu": f'{SPDX}// {name}\n#include "shared.cuh"\n' for name in "abcd"},
        },
    )
    arguments = ("--select", "CU0,CU5", "--compile", "always", "--no-cache", ".")
    arguments = (*arguments, "--sarif-suppressed", suppressed)
    whole = start(tree, *arguments, "--output-format", "sarif", path=path)
    results = json.loads(whole.stdout)["runs"][0]["results"]
    found = [(r["ruleId"], len(r.get("suppressions", []))) for r in results]
    assert found.count(("CU501", 0)) == 1
    assert found.count(("CU501", 1)) == (suppressed == "include")
    assert found.count(("CU507", 0)) == 7
    assert ("CU002", 0) not in found
    prints = {r["partialFingerprints"]["cudalint/v1"] for r in results}
    assert len(prints) == len(results)
    for count in (2, 3, 5):
        assert joined(tree, tmp_path, count, *arguments, path=path) == (
            whole.stdout,
            whole.returncode,
        )


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    write_files(tmp_path, {"a.cu": "int x;\n", "b.cu": SPDX + "int y;\n"})
    return tmp_path


def test_the_joined_log_goes_to_a_file_and_again_the_same(tree: Path) -> None:
    for index in (1, 2):
        output = ("--shard", f"{index}/2", "--output", f"sarif:{index}.sarif")
        start(tree, "--compile", "never", *output, ".")
    for _ in range(2):
        done = start(tree, "merge", "1.sarif", "2.sarif", "--output-file", "all.sarif")
        assert (done.returncode, done.stdout, done.stderr) == (1, b"", b"")
    whole = start(tree, "--compile", "never", "--output-format", "sarif", ".")
    assert (tree / "all.sarif").read_bytes() == whole.stdout
    done = start(tree, "merge", "1.sarif", "2.sarif", "--output-file", "no/all.sarif")
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr == b"cudalint: error: cannot write no/all.sarif: No such file or directory\n"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("merge",), "Missing argument 'LOGS...'."),
        (("merge", "none.sarif"), "cannot read none.sarif: No such file or directory"),
        (("merge", "."), "cannot read .: a folder, not a regular file"),
        (("merge", "a.cu"), "a.cu is damaged: it is no whole JSON document"),
        (("--shard", "0/2", "."), "Invalid value for '--shard': '0/2': shards are counted"),
        (("--shard", "half", "."), "Invalid value for '--shard': 'half' is no shard such as 2/8"),
        (("--shard", "1/2", "--sarif-embed", "."), "--sarif-embed can't go with --shard"),
        (("--shard", "1/2", "--baseline", "b", "."), "--baseline can't go with --shard"),
    ],
)
def test_errors_are_one_line(tree: Path, arguments: tuple[str, ...], expected: str) -> None:
    done = start(tree, *arguments)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode().startswith(f"cudalint: error: {expected}")
    assert done.stderr.count(b"\n") == 1


def test_a_run_that_came_to_nothing_is_named(tree: Path) -> None:
    write_files(tree, {"cudalint.toml": "selct = 1\n"})
    start(tree, "--shard", "1/2", "--output", "sarif:1.sarif", ".")
    done = start(tree, "merge", "1.sarif")
    assert done.returncode == 2
    assert done.stderr.startswith(
        b"cudalint: error: 1.sarif is of a run that came to nothing: cudalint.toml:1:1: unknown key"
    )


def test_the_text_says_which_part_it_is(tree: Path) -> None:
    texts = [start(tree, "--compile", "never", "--shard", f"{k}/2", ".").stdout for k in (1, 2)]
    for index, text in enumerate(texts, 1):
        assert f", shard {index}/2;".encode() in text.splitlines()[-1]
    assert sum(text.count(b"[spdx-header]") for text in texts) == 1
