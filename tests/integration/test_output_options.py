"""`--output`, `--output-format` and `--output-file`: which reports are written, where, and how."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from test_cli import BAD, GOOD, NEVER, cudalint_command, start

from conftest import write_files
from cudalint.reporters.formats import FORMATS


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    write_files(tmp_path, {"good.cu": GOOD, "bad.cu": BAD})
    return tmp_path


def test_several_reports_at_once(tree: Path) -> None:
    done = start(
        tree,
        *NEVER,
        "--output",
        "sarif:out.sarif",
        "--output",
        "concise",
        "--output=json:o.json",
        ".",
    )
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith("bad.cu:2:28: warning CU108 ")
    assert json.loads((tree / "out.sarif").read_text())["runs"][0]["results"]
    assert json.loads((tree / "o.json").read_text())["summary"]["findings"] == 1


def test_every_format_by_its_name(tree: Path) -> None:
    outputs = [f"--output={name}:out.{name}" for name in FORMATS]
    done = start(tree, *NEVER, *outputs, "bad.cu")
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "")
    for name in FORMATS:
        assert "CU108" in (tree / f"out.{name}").read_text(), name
        same = start(tree, *NEVER, "--output-format", name, "bad.cu")
        assert same.stdout == (tree / f"out.{name}").read_text(), name


def test_the_older_options_are_one_more_report(tree: Path) -> None:
    done = start(tree, *NEVER, "--output", "json:o.json", "--output-format", "concise", ".")
    assert done.stdout.startswith("bad.cu:2:28: warning CU108 ")
    assert (tree / "o.json").is_file()
    only = start(tree, *NEVER, "--output", "json:o.json", ".")
    assert only.stdout == ""
    to_file = start(tree, *NEVER, "--output", "json", "--output-file", "o.txt", ".")
    assert to_file.stdout.startswith("{")
    assert "^" in (tree / "o.txt").read_text()
    dash = start(tree, *NEVER, "--output", "json:-", "--output-file", "o.txt", ".")
    assert dash.stdout == to_file.stdout
    assert start(tree, *NEVER, "--output-file", "-", ".").stdout == (tree / "o.txt").read_text()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--output", "json", "--output", "text"), "two reports can't both go to stdout"),
        (("--output", "json", "--output-format", "text"), "two reports can't both go to stdout"),
        (("--output", "json:-", "--output", "text"), "two reports can't both go to stdout"),
        (("--output", "json:a", "--output", "text:./a"), "two reports can't both go to 'a'"),
        (("--output", "json:a", "--output-file", "x/../a"), "two reports can't both go to 'a'"),
        (("--output", "yaml:a"), "'yaml' is not one of text, concise, "),
        (("--output", "json:"), "no file after 'json:'"),
    ],
)
def test_what_can_not_be_is_one_line(
    arguments: tuple[str, ...], complaint: str, tree: Path
) -> None:
    done = start(tree, *NEVER, *arguments, ".")
    assert (done.returncode, done.stdout) == (2, "")
    assert complaint in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_report_is_written_though_the_settings_are_wrong(tree: Path) -> None:
    write_files(tree, {"cudalint.toml": "selct = []\n"})
    files = {name: tree / f"out.{name}" for name in FORMATS}
    outputs = [f"--output={name}:{file.name}" for name, file in files.items()]
    done = start(tree, *NEVER, *outputs, ".")
    assert (done.returncode, done.stdout) == (2, "")
    assert "unknown key 'selct'" in done.stderr
    for name, file in files.items():
        assert "failed" in file.read_text() if name in ("text", "concise") else True
        assert "selct" in file.read_text() or name in ("text", "concise"), name
    assert start(tree, *NEVER, ".").stdout == ""
    assert "::error title=cudalint invalid-settings::" in (
        start(tree, *NEVER, "--output", "github", ".").stdout
    )


def test_a_report_is_written_though_cudalint_itself_fails(tree: Path) -> None:
    import subprocess
    import sys

    fault = "import cudalint.runner as r\nr.run = lambda *a, **k: 1 // 0\n"
    command = f"{fault}from cudalint.cli.main import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", command, "--output", "sarif:o.sarif", "--output", "json", "good.cu"],
        cwd=tree,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 2
    assert "internal error: ZeroDivisionError" in done.stderr
    (told,) = json.loads(done.stdout)["notifications"]
    assert (told["id"], told["level"]) == ("internal-error", "error")
    assert "ZeroDivisionError" in told["message"]
    (invocation,) = json.loads((tree / "o.sarif").read_text())["runs"][0]["invocations"]
    assert invocation["executionSuccessful"] is False


def test_a_clean_run_writes_its_report_too(tree: Path) -> None:
    write_files(tree, {"out.json": "old", "out.md": "old"})
    outputs = ("--output", "json:out.json", "--output", "markdown:out.md")
    assert start(tree, *NEVER, *outputs, "good.cu").returncode == 0
    assert json.loads((tree / "out.json").read_text())["findings"] == []
    assert "no findings" in (tree / "out.md").read_text()


def test_an_old_report_is_replaced_whole_and_keeps_its_mode(tree: Path) -> None:
    folder = tree / "reports"
    folder.mkdir()
    real, link = folder / "real.json", tree / "link.json"
    real.write_text("old")
    real.chmod(0o640)
    link.symlink_to(real)
    kept_open = real.open()
    assert start(tree, *NEVER, "--output", "json:link.json", ".").returncode == 1
    # Who has the old one open still has the old one: it was replaced, not written into.
    assert kept_open.read() == "old"
    kept_open.close()
    assert link.is_symlink()
    assert json.loads(real.read_text())["summary"]["exit_code"] == 1
    assert real.stat().st_mode & 0o777 == 0o640
    assert [file.name for file in folder.iterdir()] == ["real.json"]


def test_a_new_report_has_the_mode_of_any_new_file(tree: Path) -> None:
    command = cudalint_command(*NEVER, "--output", "json:new.json", ".")
    subprocess.run(command, cwd=tree, capture_output=True, umask=0o027)
    assert (tree / "new.json").stat().st_mode & 0o777 == 0o640


def test_one_that_can_not_be_written_does_not_keep_the_others(tree: Path) -> None:
    outputs = ("--output", "json:no/such/a.json", "--output", "json:b.json", "--output", "concise")
    done = start(tree, *NEVER, *outputs, ".")
    assert done.returncode == 2
    assert (
        done.stderr == "cudalint: error: cannot write no/such/a.json: No such file or directory\n"
    )
    assert (tree / "b.json").is_file()
    assert done.stdout.startswith("bad.cu:2:28: ")


def test_what_is_no_file_is_written_into(tree: Path) -> None:
    through = start(tree, *NEVER, "--output", "concise:/dev/stdout", ".")
    assert through.stdout.startswith("bad.cu:2:28: ")
    assert start(tree, *NEVER, "--output", "concise:/dev/null", ".").returncode == 1
    assert start(tree, *NEVER, "--output", "concise:.", ".").returncode == 2


def test_colour_goes_to_a_file_only_when_always(tree: Path) -> None:
    start(tree, *NEVER, "--output", "text:o.txt", ".", FORCE_COLOR="1")
    assert "\x1b" not in (tree / "o.txt").read_text()
    start(tree, *NEVER, "--output", "text:o.txt", "--color", "always", ".")
    assert "\x1b" in (tree / "o.txt").read_text()
