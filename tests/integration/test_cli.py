"""The command line as a process: what it prints, where, and how it exits."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import cudalint
from conftest import write_files
from cudalint.registry import all_rules
from forked import run_cudalint_text

SPDX = "// SPDX-License-Identifier: MIT OR Apache-2.0\n"
GOOD = SPDX + 'extern "C" __global__ void __launch_bounds__(64) k(float* x) { *x = 1; }\n'
BAD = SPDX + 'extern "C" __global__ void k(float* x) { *x = 1; }\n'


def cudalint_command(*arguments: str) -> list[str]:
    return [sys.executable, "-c", "from cudalint.cli.main import main; main()", *arguments]


def start(root: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    env = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR")}
    return run_cudalint_text([*arguments], cwd=root, env={**env, **environment})


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    write_files(tmp_path, {"good.cu": GOOD, "bad.cu": BAD, "empty/readme.txt": ""})
    return tmp_path


NEVER = ("--compile", "never")


def test_findings_go_to_stdout_and_the_exit_code_says_so(tree: Path) -> None:
    done = start(tree, *NEVER, "--output-format", "concise", ".")
    assert done.returncode == 1
    first, last = done.stdout.splitlines()
    assert first.startswith("bad.cu:2:28: warning CU108 ")
    assert last == "2 kernels in 2 files; CU5 skipped (--compile never)"
    assert done.stderr == ""
    assert start(tree, *NEVER, "good.cu").returncode == 0
    assert start(tree, *NEVER, "--exit-zero", ".").returncode == 0
    assert start(tree, "check", "good.cu", *NEVER).returncode == 0


def test_text_shows_the_source_and_colours_it_when_asked(tree: Path) -> None:
    plain = start(tree, *NEVER, "bad.cu").stdout
    assert 'extern "C" __global__ void k(float* x)' in plain
    assert "^" in plain
    assert "\x1b[" not in plain
    assert "\x1b[" in start(tree, *NEVER, "--color", "always", "bad.cu").stdout
    assert "\x1b[" in start(tree, *NEVER, "bad.cu", FORCE_COLOR="1").stdout
    assert "\x1b[" not in start(tree, *NEVER, "bad.cu", FORCE_COLOR="1", NO_COLOR="1").stdout


def test_a_report_in_a_file(tree: Path) -> None:
    done = start(tree, *NEVER, "--output-format", "sarif", "--output-file", "out.sarif", ".")
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "")
    log = json.loads((tree / "out.sarif").read_text())
    assert [result["ruleId"] for result in log["runs"][0]["results"]] == ["CU108"]
    unwritable = start(tree, *NEVER, "--output-file", "no/such/folder", ".")
    assert unwritable.returncode == 2
    assert unwritable.stderr == (
        "cudalint: error: cannot write no/such/folder: No such file or directory\n"
    )


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ((), "nothing to lint: give files or folders, or see --help"),
        (("--frobnicate", "."), "No such option"),
        (("--select", "CU999", "."), "unknown rule 'CU999' in --select on the command line"),
        (("--select", "", "."), "'--select': it names no rule; ALL are all of them"),
        (("--select", " , ", "."), "'--select': it names no rule; ALL are all of them"),
        (("--jobs", "0", "."), "'0' is neither a positive number nor 'auto'"),
        (("--output-format", "yaml", "."), "'yaml' is not one of"),
        (("--config", "gone.toml", "."), "cannot read gone.toml: No such file or directory"),
        (("rule", "CU9999"), "there is no rule 'CU9999'"),
        (("rule", "spdx-heder"), "did you mean 'spdx-header'?"),
        (("gone.cu",), "no such file or folder: 'gone.cu'"),
        (("empty",), "no CUDA files in 'empty'"),
        (("*.cpp",), "no CUDA files match '*.cpp'"),
        (("empty/readme.txt",), "no CUDA source: 'empty/readme.txt'"),
    ],
)
def test_what_the_user_gets_wrong_is_one_line(
    arguments: tuple[str, ...], complaint: str, tree: Path
) -> None:
    done = start(tree, *arguments)
    assert done.returncode == 2
    assert done.stderr.startswith("cudalint: error: ")
    assert complaint in done.stderr
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr


def test_settings_that_are_wrong_are_told_with_their_place(tree: Path) -> None:
    write_files(tree, {"cudalint.toml": 'select = ["CU1"]\nselct = []\n'})
    done = start(tree, ".")
    assert done.returncode == 2
    assert done.stderr == (
        "cudalint: error: cudalint.toml:2:1: unknown key 'selct'; did you mean 'select'?\n"
    )
    assert start(tree, *NEVER, "--isolated", "good.cu").returncode == 0


def test_a_list_that_exclude_empties_is_fine(tree: Path) -> None:
    done = start(tree, *NEVER, "--exclude", "*.cu", "--force-exclude", "bad.cu", "good.cu")
    assert done.returncode == 0
    assert done.stderr == "cudalint: note: nothing to lint: every path given is excluded\n"
    assert start(tree, *NEVER, "--exclude", "*.cu", "bad.cu").returncode == 1
    nameless = start(tree, "check", "--exclude", "*.cu", "--force-exclude", "--select", "CU4")
    assert (nameless.returncode, nameless.stderr) == (0, done.stderr)


def test_paths_are_shown_from_where_one_stands(tree: Path) -> None:
    write_files(tree, {"cudalint.toml": "", "sub/deep/b.cu": BAD, "sub/deep/gone/x.txt": ""})
    for options in (("--output-format", "concise"), ()):
        here = start(tree / "sub", *NEVER, *options, "deep", "../bad.cu").stdout
        places = [line.split()[0] for line in here.splitlines() if " CU108 " in line]
        assert places == ["../bad.cu:2:28:", "deep/b.cu:2:28:"]
    log = json.loads(start(tree / "sub", *NEVER, "--output-format", "sarif", "deep").stdout)
    place = log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "sub/deep/b.cu"


def test_several_selectors_in_one_word_and_in_several(tree: Path) -> None:
    done = start(tree, *NEVER, "--select", "CU101, CU108", "--ignore", "CU108", "bad.cu")
    assert done.returncode == 0
    done = start(tree, *NEVER, "--select", "CU101", "--select", "CU108", "bad.cu")
    assert done.returncode == 1


def test_help_and_version(tree: Path) -> None:
    said = start(tree, "--version").stdout.splitlines()
    assert said[0] == f"cudalint {cudalint.__version__}"
    assert [line.split()[0] for line in said[1:]] == ["tree-sitter", "libclang", "nvcc"]
    for flag in ("--help", "-h"):
        done = start(tree, flag)
        assert done.returncode == 0
        for word in ("--select", "--output-format", "Examples:", "cudalint rule CU302", "  rules"):
            assert word in done.stdout
    assert "--extend-select" in start(tree, "check", "--help").stdout


def test_rules_are_listed_and_explained(tree: Path) -> None:
    listed = start(tree, "rules").stdout
    for rule in all_rules():
        assert f"{rule.code}  {rule.name}" in listed
    for word in ("CU108", "cu108", "missing-launch-bounds", "cudalint-missing-launch-bounds"):
        done = start(tree, "rule", word)
        assert done.returncode == 0
        assert done.stdout.startswith("CU108 missing-launch-bounds\n")
        assert "HOW TO FIX" in done.stdout


def test_nothing_is_written_into_the_tree(tree: Path) -> None:
    before = sorted(tree.rglob("*"))
    start(tree, *NEVER, ".", CUDALINT_CACHE_DIR=str(tree.parent / "cache"))
    assert sorted(tree.rglob("*")) == before
    assert list((tree.parent / "cache" / "models").glob("*/*"))


def test_a_reader_that_goes_away_is_no_error(tree: Path) -> None:
    for number in range(60):
        write_files(tree, {f"many/{number}.cu": BAD.replace("k(", f"k{number}(") * 30})
    command = cudalint_command(*NEVER, "--select", "CU1", "--jobs", "1", "many")
    process = subprocess.Popen(command, cwd=tree, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()
    process.wait(60)
    assert errors == b""


def _children(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task")
    return [
        int(child) for task in tasks.iterdir() for child in (task / "children").read_text().split()
    ]


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="needs /proc")
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_a_signal_ends_at_once_and_leaves_no_child(
    number: signal.Signals, code: int, tree: Path
) -> None:
    for index in range(400):
        write_files(tree, {f"many/{index}.cu": BAD.replace("k(", f"k{index}(") * 60})
    command = cudalint_command(*NEVER, "--no-cache", "--jobs", "2", "many")
    process = subprocess.Popen(
        command,
        cwd=tree,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        # What runs the tests may itself be one that the signal doesn't reach.
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),
    )
    children: list[int] = []
    deadline = time.monotonic() + 60
    while len(children) < 2 and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
        children = _children(process.pid)
    assert children, "the workers were not seen"
    process.send_signal(number)
    stopped = time.monotonic()
    output, errors = process.communicate(timeout=60)
    assert process.returncode == code
    assert time.monotonic() - stopped < 20
    assert (output, errors.strip()) == (b"", b"")
    alive = [child for child in children if Path(f"/proc/{child}").exists()]
    assert alive == []


def test_an_internal_error_is_one_line_and_a_traceback_on_request(tree: Path) -> None:
    fault = "import cudalint.runner as r\nr.read = lambda *a, **k: 1 // 0\n"
    command = f"{fault}from cudalint.cli.main import main; main()"
    for more, lines in (((), 1), (("--verbose",), 5)):
        done = subprocess.run(
            [sys.executable, "-c", command, "good.cu", *more],
            cwd=tree,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 2
        assert done.stderr.startswith("cudalint: error: internal error: ZeroDivisionError: ")
        assert done.stderr.count("\n") >= lines
        assert ("Traceback" in done.stderr) == bool(more)


def test_a_file_name_that_is_no_utf8_costs_nothing(tree: Path) -> None:
    (tree / os.fsdecode(b"odd\xff.cu")).write_text(BAD)
    for more in ("--cache-dir=kept", "--cache-dir=kept", "--no-cache"):
        done = start(tree, *NEVER, more, "--output-format", "concise", ".")
        assert [line.partition(":")[0] for line in done.stdout.splitlines()[:-1]] == [
            "bad.cu",
            "odd<U+DCFF>.cu",
        ]
        assert (done.returncode, done.stderr) == (1, "")


def test_file_names_cannot_forge_output(tree: Path) -> None:
    write_files(tree, {"x\x1b[31m\nerror.cu": BAD})
    done = start(tree, *NEVER, "--output-format", "concise", ".")
    assert "\x1b" not in done.stdout
    assert len(done.stdout.splitlines()) == 3
    gone = start(tree, *NEVER, "gone\n\x1b[2J.cu")
    assert gone.stderr.count("\n") == 1
    assert "\x1b" not in gone.stderr
