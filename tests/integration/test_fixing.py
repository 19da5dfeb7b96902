"""--fix, --unsafe-fixes, --diff and --show-fixes, on the command line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from test_cli import NEVER, SPDX, cudalint_command, start

from conftest import write_files

PRINTS = SPDX + (
    '#include <cstdio>\nextern "C" __global__ void __launch_bounds__(64) p(float* x)'
    ' {\n  printf("%f", *x);\n  *x = 1;\n}\n'
)
MENDED = SPDX + ('extern "C" __global__ void __launch_bounds__(64) p(float* x) {\n  *x = 1;\n}\n')
STATIC = SPDX + "static __global__ void __launch_bounds__(64) s(float* x) { *x = 1; }\n"
NO_STATIC = STATIC.replace("static", 'extern "C"')


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    write_files(tmp_path, {"p.cu": PRINTS, "s.cu": STATIC, "cudalint.toml": ""})
    return tmp_path


def test_fix_makes_the_safe_ones_and_reports_what_is_left(tree: Path) -> None:
    done = start(tree, *NEVER, "--fix", "--output-format", "concise", ".")
    assert (tree / "p.cu").read_text() == MENDED
    assert (tree / "s.cu").read_text() == STATIC
    assert done.stderr == "cudalint: note: fixed 2 findings in 1 file\n"
    assert [line.split()[2] for line in done.stdout.splitlines()[:-1]] == ["CU104"]
    assert done.returncode == 1


def test_unsafe_fixes_are_made_too_and_listed(tree: Path) -> None:
    done = start(tree, *NEVER, "--fix", "--unsafe-fixes", "--show-fixes", ".")
    assert (tree / "s.cu").read_text() == NO_STATIC
    assert done.stderr.splitlines() == [
        "cudalint: note: fixed 3 findings in 2 files",
        "cudalint: note: p.cu: 1 x CU103 (banned-include)",
        "cudalint: note: p.cu: 1 x CU201 (device-printf)",
        "cudalint: note: s.cu: 1 x CU104 (entry-linkage)",
    ]
    assert done.returncode == 0
    again = start(tree, *NEVER, "--fix", "--unsafe-fixes", "--show-fixes", ".")
    assert (again.returncode, again.stderr) == (0, "")


def test_diff_writes_nothing_and_is_what_fix_does(tree: Path) -> None:
    done = start(tree, *NEVER, "--diff", "--unsafe-fixes", ".")
    assert done.returncode == 1
    assert done.stderr == "cudalint: note: would fix 3 findings in 2 files\n"
    assert ((tree / "p.cu").read_text(), (tree / "s.cu").read_text()) == (PRINTS, STATIC)
    subprocess.run(["git", "apply", "-"], input=done.stdout, cwd=tree, check=True, text=True)
    assert ((tree / "p.cu").read_text(), (tree / "s.cu").read_text()) == (MENDED, NO_STATIC)
    empty = start(tree, *NEVER, "--diff", "--unsafe-fixes", ".")
    assert (empty.returncode, empty.stdout, empty.stderr) == (0, "", "")


def test_exit_codes_of_diff(tree: Path) -> None:
    assert start(tree, *NEVER, "--diff", "s.cu").returncode == 0
    assert start(tree, *NEVER, "--diff", "--exit-zero", "p.cu").returncode == 0
    assert start(tree, *NEVER, "--diff", "gone.cu").returncode == 2
    assert start(tree, *NEVER, "--diff", "--select", "CU999", ".").returncode == 2


def test_a_diff_for_a_terminal_acts_on_nothing(tree: Path) -> None:
    write_files(tree, {"p.cu": PRINTS.replace('"%f"', '"\x1b[2J"')})
    shown = start(tree, *NEVER, "--diff", "--color", "always", "p.cu").stdout
    assert "\x1b[2J" not in shown
    assert "\x1b[1;31m-  printf(" in shown
    assert "\x1b[2J" in start(tree, *NEVER, "--diff", "p.cu").stdout


def test_a_file_that_is_read_only_is_one_line_and_exit_code_2(tree: Path) -> None:
    (tree / "p.cu").chmod(0o444)
    done = start(tree, *NEVER, "--fix", "--unsafe-fixes", ".")
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "cudalint: note: fixed 1 finding in 1 file",
        "cudalint: error: cannot change 'p.cu': it is read-only",
    ]
    assert ((tree / "p.cu").read_text(), (tree / "s.cu").read_text()) == (PRINTS, NO_STATIC)


def test_a_file_that_changes_meanwhile_is_left_alone(tree: Path) -> None:
    """Somebody writes between the reading and the writing: each lint appends a line."""
    fault = (
        "import cudalint.fixes.write as w, pathlib\nold = w.write_changed\n"
        "def late(root, changed):\n"
        "    pathlib.Path('p.cu').write_text('mine')\n    return old(root, changed)\n"
        "w.write_changed = late\nfrom cudalint.cli.main import main; main()"
    )
    command = [sys.executable, "-c", fault, *NEVER, "--fix", "p.cu"]
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == ("cudalint: error: cannot change 'p.cu': it changed since it was read\n")
    assert (tree / "p.cu").read_text() == "mine"


def test_line_ends_and_marks_stay(tree: Path) -> None:
    data = b"\xef\xbb\xbf" + PRINTS.replace("\n", "\r\n").removesuffix("\r\n").encode()
    write_files(tree, {"p.cu": data})
    start(tree, *NEVER, "--fix", "--ignore", "CU101", "p.cu")
    assert (tree / "p.cu").read_bytes() == (
        b"\xef\xbb\xbf" + MENDED.replace("\n", "\r\n").removesuffix("\r\n").encode()
    )


def test_a_file_that_is_no_utf8_is_not_touched(tree: Path) -> None:
    data = PRINTS.replace("*x = 1;", "*x = 1;  // gr\udcfc\udcdfe").encode(errors="surrogateescape")
    write_files(tree, {"p.cu": data})
    done = start(tree, *NEVER, "--fix", "p.cu")
    assert "not UTF-8" in done.stdout
    assert (tree / "p.cu").read_bytes() == data


def test_a_link_out_of_the_project_is_not_followed(tree: Path) -> None:
    outside = tree.parent / "outside.cu"
    outside.write_text(PRINTS)
    (tree / "p.cu").unlink()
    (tree / "p.cu").symlink_to(outside)
    done = start(tree, *NEVER, "--fix", "p.cu")
    assert outside.read_text() == PRINTS
    assert done.returncode == 1
    assert done.stderr.startswith("cudalint: warning: 'p.cu' is not mended: it leads to '")


def test_manifests_are_mended(tree: Path) -> None:
    kernel = MENDED.replace(" p(", " k(")
    write_files(
        tree,
        {
            "kernels/hw/HARDWARE.toml": '[hardware]\nname = "hw"\nvendor = "nvidia"\n'
            'arch = "sm_121"\n',
            "kernels/hw/common/k.cu": kernel,
            "kernels/hw/m/q/k.cu": kernel.replace("= 1", "= 2"),
            "kernels/hw/m/q/KERNEL.toml": '[shadow]\r\ngone = "it was faster once"\r\n',
        },
    )
    start(tree, *NEVER, "--fix", "--unsafe-fixes", "--select", "CU4", "kernels")
    manifest = (tree / "kernels/hw/m/q/KERNEL.toml").read_bytes()
    assert manifest == b'[shadow]\r\nk = "TODO"\r\n'


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--fix", "--diff"), "--fix writes and --diff writes nothing: give one of them"),
        (("--unsafe-fixes",), "--unsafe-fixes goes with --fix or --diff only"),
        (("--show-fixes",), "--show-fixes goes with --fix or --diff only"),
        (("--fix", "--shard", "1/2"), "fixes can't be made with --shard"),
        (("--diff", "--output", "sarif:x"), "--diff writes a diff and no report"),
        (("--diff", "--output-format", "text"), "--diff writes a diff and no report"),
    ],
)
def test_what_can_not_go_together(arguments: tuple[str, ...], complaint: str, tree: Path) -> None:
    done = start(tree, *arguments, ".")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert complaint in done.stderr


def test_sarif_has_the_fixes_and_says_which_are_unsafe(tree: Path) -> None:
    log = json.loads(start(tree, *NEVER, "--output-format", "sarif", ".").stdout)
    fixes = {r["ruleId"]: r.get("fixes", []) for r in log["runs"][0]["results"]}
    words = {code: "unsafe" in f[0]["description"]["text"] for code, f in fixes.items() if f}
    assert words == {"CU201": False, "CU104": True}


def test_a_file_on_stdin_is_shown_as_a_diff_and_never_written(tree: Path) -> None:
    def piped(option: str) -> subprocess.CompletedProcess[str]:
        command = cudalint_command(*NEVER, option, "--stdin-filename", "s.cu", "-")
        return subprocess.run(
            command, cwd=tree, input=PRINTS, capture_output=True, text=True, check=False
        )

    shown = piped("--diff")
    assert shown.returncode == 1
    assert '-  printf("%f", *x);' in shown.stdout
    refused = piped("--fix")
    assert refused.returncode == 2
    assert "--fix writes files, and '-' is none" in refused.stderr
    assert (tree / "s.cu").read_text() == STATIC
