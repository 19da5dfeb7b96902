"""Malformed input of every kind: a result or one line for each, and the rest is linted."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from conftest import lint, write_files
from cudalint.run import Run

SPDX = "// SPDX-License-Identifier: MIT OR Apache-2.0\n"
KERNEL = 'extern "C" __global__ void k(float* x) { *x = 1; }\n'
GOOD = SPDX + 'extern "C" __global__ void __launch_bounds__(64) good(float* x) { *x = 1; }\n'


def codes(finished: Run, path: str) -> list[str]:
    return [finding.code for finding in finished.findings if finding.span.path == path]


def test_files_that_are_no_text_do_not_stop_the_run(tmp_path: Path) -> None:
    binary = bytes(range(256)) * 40
    write_files(
        tmp_path,
        {
            "binary.cu": binary,
            "utf16.cu": (SPDX + KERNEL).encode("utf-16"),
            "latin1.cu": b"// caf\xe9\n",
            "nul.cu": SPDX + "int x;\0\n",
            "empty.cu": b"",
            "bare.cu": SPDX + KERNEL,
        },
    )
    with (tmp_path / "huge.cu").open("wb") as stream:
        stream.truncate(50_000_000)
    os.mkfifo(tmp_path / "pipe.cu")
    (tmp_path / "null.cu").symlink_to("/dev/null")
    finished = lint(tmp_path, ".", "null.cu")
    for path in ("binary", "utf16", "latin1", "nul", "huge", "pipe", "null"):
        assert codes(finished, f"{path}.cu") == ["CU004"], path
    assert codes(finished, "empty.cu") == ["CU101"]
    assert codes(finished, "bare.cu") == ["CU108"]
    assert finished.exit_code == 1
    assert finished.notifications == ()


def test_a_file_that_vanishes_between_finding_and_reading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_files(tmp_path, {"a.cu": GOOD, "gone.cu": GOOD})
    real = os.open

    def vanishing(path: str, *more: int) -> int:
        if path.endswith("gone.cu"):
            raise FileNotFoundError(2, "No such file or directory")
        return real(path, *more)

    monkeypatch.setattr("os.open", vanishing)
    finished = lint(tmp_path)
    assert codes(finished, "gone.cu") == ["CU004"]
    assert "it vanished" in finished.findings[0].message
    assert codes(finished, "a.cu") == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission(tmp_path: Path) -> None:
    write_files(tmp_path, {"a.cu": GOOD, "locked.cu": GOOD})
    (tmp_path / "locked.cu").chmod(0)
    finished = lint(tmp_path)
    assert codes(finished, "locked.cu") == ["CU004"]
    assert finished.exit_code == 1


@pytest.mark.parametrize("name", ["KERNEL.toml", "HARDWARE.toml", "MODEL.toml"])
@pytest.mark.parametrize("data", ["[modules]\n".encode("utf-16"), b"# \xff", b"\0"])
def test_a_manifest_that_is_no_text_is_one_fault(data: bytes, name: str, tmp_path: Path) -> None:
    place = {"KERNEL.toml": "gb10/m/q", "HARDWARE.toml": "gb10", "MODEL.toml": "gb10/m"}[name]
    files = {"gb10/common/a.cu": GOOD, "gb10/m/q/b.cu": GOOD.replace("good", "b")}
    write_files(tmp_path, {**files, f"{place}/{name}": data})
    finished = lint(tmp_path, select=("CU0", "CU4"))
    assert [finding.code for finding in finished.findings] == ["CU004"]


def without_privileges() -> list[str]:
    """What to put before a command so that permissions hold for it, for root too."""
    if os.geteuid() != 0:
        return []
    if shutil.which("setpriv") is None:
        pytest.skip("root may read everything, and there is no setpriv")
    return ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]


@pytest.mark.parametrize("more", [(), ("--output-file", "secret.txt")])
def test_what_may_not_be_read_is_a_result_though_it_is_named(
    more: tuple[str, ...], tmp_path: Path
) -> None:
    files = ("a.cu", "locked.cu", "closed/b.cu")
    write_files(tmp_path, dict.fromkeys(files, SPDX + KERNEL) | {"secret.txt": ""})
    (tmp_path / "secret.txt").chmod(0o200)
    (tmp_path / "locked.cu").chmod(0)
    (tmp_path / "closed").chmod(0)
    command = [*without_privileges(), sys.executable, "-c"]
    command += ["from cudalint.cli.main import main; main()", "--compile=never"]
    command += ["--output-format=concise", *more, *files]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    (tmp_path / "closed").chmod(0o700)
    (tmp_path / "secret.txt").chmod(0o600)
    output = done.stdout or (tmp_path / "secret.txt").read_text()
    found = [line.split()[:3] for line in output.splitlines()[:-1]]
    assert found == [
        ["a.cu:2:28:", "warning", "CU108"],
        ["closed/b.cu:1:1:", "error", "CU004"],
        ["locked.cu:1:1:", "error", "CU004"],
    ]
    assert output.count("'Permission denied'") == 2
    assert (done.returncode, done.stderr) == (1, "")


def test_a_folder_that_may_not_be_read_is_told_though_it_is_named(tmp_path: Path) -> None:
    write_files(tmp_path, {"a.cu": GOOD, "closed/deep/b.cu": GOOD})
    (tmp_path / "closed").chmod(0)
    command = [*without_privileges(), sys.executable, "-c"]
    command += ["from cudalint.cli.main import main; main()", "--compile=never"]
    command += ["a.cu", "closed", "closed/deep"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    (tmp_path / "closed").chmod(0o700)
    assert done.returncode == 2
    assert done.stderr == (
        "cudalint: error: cannot read 'closed/deep': Permission denied\n"
        "cudalint: error: cannot read folder 'closed': Permission denied\n"
    )
    assert done.stdout.startswith("the run failed; 1 kernel in 1 file")


NESTED = {
    "parentheses": f"int x = {'(' * 20_000}1{')' * 20_000};",
    "braces": f"void f() {'{' * 20_000}{'}' * 20_000}",
    "unclosed": f"void f() {'{(' * 20_000}",
    "namespaces": f"{'namespace a {' * 5_000}{'}' * 5_000}",
    "calls": f"void f() {{ {'g(' * 2_000}{')' * 2_000}; }}",
    "templates": f"A{'<A' * 5_000}{'>' * 5_000} x;",
    "lambdas": f"auto f = {'[]{ return ' * 300}1{';}()' * 300};",
    "conditionals": f"int f(int n) {{ return {'n ? ' * 5_000}1{' : 2' * 5_000}; }}",
    "else-ifs": f"void f(int n) {{ {'if (n) {} else ' * 5_000}; }}",
    "directives": "#if A\n" * 5_000 + "int y;\n" + "#endif\n" * 5_000,
    "chevrons": f"void f() {{ {'k<<<' * 5_000}",
    "pointers": f"void f(int {'*' * 20_000}p) {{}}",
    "comments": "/*" * 20_000,
    "quotes": '"' * 20_001,
    "splices": "\\\n" * 50_000,
    "digits": f"__global__ void __launch_bounds__({'9' * 10_000}) d();",
    "sums": f"__global__ void __launch_bounds__({'1+' * 5_000}1) d();",
    "shifts": "__global__ void __launch_bounds__(1 << 1000000000) d();",
    "doubling macros": "#define A0(x) x\n"
    + "".join(f"#define A{n + 1}(x) A{n}(x) A{n}(x)\n" for n in range(60))
    + "int y = A60(1);",
    "macros of themselves": "#define A(x) B(x)\n#define B(x) A(x) A(x)\nint y = A(B(A(1)));",
}


@pytest.mark.parametrize("name", NESTED)
def test_what_nests_without_end(name: str, tmp_path: Path) -> None:
    write_files(tmp_path, {"nested.cu": f"{SPDX}{NESTED[name]}\n", "bare.cu": SPDX + KERNEL})
    started = time.process_time()
    finished = lint(tmp_path)
    assert time.process_time() - started < 20
    assert codes(finished, "bare.cu") == ["CU108"]
    assert [note for note in finished.notifications if note.level.value == "error"] == []


def test_a_cache_on_a_full_disk_is_one_line(tmp_path: Path) -> None:
    write_files(tmp_path, {"a.cu": GOOD, "file": ""})
    command = [sys.executable, "-c", "from cudalint.cli.main import main; main()"]
    command += ["a.cu", "--compile", "never", "--cache-dir", "file"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0
    assert done.stderr == "cudalint: warning: cannot write the cache in file: File exists\n"


def with_streams(root: Path, redirections: str, *arguments: str) -> tuple[int, str]:
    """Exit code and stderr of `cudalint` with the shell's `redirections`."""
    command = shlex.join([sys.executable, "-c", "from cudalint.cli.main import main; main()"])
    line = f"{command} {shlex.join(arguments)} {redirections}"
    done = subprocess.run(
        ["sh", "-c", line], cwd=root, stderr=subprocess.PIPE, text=True, timeout=60
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    ("redirection", "why"),
    [(">/dev/full", "No space left on device"), (">&-", "Bad file descriptor")],
)
@pytest.mark.parametrize(
    "arguments",
    [
        ("a.cu", "--compile", "never"),
        ("a.cu", "--compile", "never", "--output-format", "sarif"),
        ("a.cu", "--select", "CU9999", "--output-format", "sarif"),
        ("rules",),
        ("rule", "CU101"),
        ("--help",),
        ("--version",),
    ],
)
def test_output_that_cannot_be_written_is_one_line(
    arguments: tuple[str, ...], redirection: str, why: str, tmp_path: Path
) -> None:
    write_files(tmp_path, {"a.cu": GOOD})
    code, said = with_streams(tmp_path, redirection, *arguments)
    assert code == 2
    assert said.splitlines()[-1] == f"cudalint: error: cannot write to stdout: {why}"
    assert said.count("\n") == (2 if "CU9999" in arguments else 1)


@pytest.mark.parametrize("redirections", ["2>/dev/full", "2>&-", "<&- 2>&-"])
def test_nobody_to_complain_to(redirections: str, tmp_path: Path) -> None:
    write_files(tmp_path, {"a.cu": GOOD})
    assert with_streams(tmp_path, f">out.txt {redirections}", "a.cu", "gone.cu")[0] == 2
    assert (tmp_path / "out.txt").read_text().startswith("the run failed; 1 kernel in 1 file")
