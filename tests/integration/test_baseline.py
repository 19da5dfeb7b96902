"""`cudalint baseline write` and --baseline: findings that are known, and those that come."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from test_cli import NEVER, SPDX, start

from conftest import write_files

FILE = "cudalint-baseline.json"
ONE = "  cudaEventRecord(e);\n"


def host(*bodies: str) -> str:
    """A file with one function for each body."""
    functions = (
        f"void f{number}(cudaEvent_t e) {{\n{body}}}\n" for number, body in enumerate(bodies)
    )
    return SPDX + "".join(functions)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    write_files(tmp_path, {"src/a.cu": host(ONE, ONE + ONE), "src/b.cu": host(ONE)})
    done = start(tmp_path, "baseline", "write", *NEVER)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"4 findings in {FILE}\n", "")
    return tmp_path


def check(root: Path, *more: str) -> tuple[int, list[str], str]:
    """The exit code, where the findings are, and what is said."""
    done = start(root, *NEVER, "--baseline", FILE, "--output-format", "concise", *more, ".")
    places = [line.split(": ")[0] for line in done.stdout.splitlines() if "error CU" in line]
    return done.returncode, places, done.stderr


def test_what_is_in_it_is_not_shown_but_counted(tree: Path) -> None:
    assert check(tree) == (0, [], "")
    assert start(tree, *NEVER, "--baseline", FILE, ".").stdout.startswith("4 in the baseline\n")
    assert start(tree, *NEVER, ".").returncode == 1


def test_the_file_is_sorted_and_an_entry_a_line(tree: Path) -> None:
    text = (tree / FILE).read_text()
    entries = json.loads(text)["findings"]
    assert [(e["path"], e["code"], e["function"], e["count"]) for e in entries] == [
        ("src/a.cu", "CU302", "f0", 1),
        ("src/a.cu", "CU302", "f1", 2),
        ("src/b.cu", "CU302", "f0", 1),
    ]
    assert sum('"path"' in line for line in text.splitlines()) == 3
    start(tree, "baseline", "write", *NEVER)
    assert (tree / FILE).read_text() == text


def test_lines_may_move_and_comments_come(tree: Path) -> None:
    moved = SPDX + "\n// words\nint x;\n" + host("  //\n\n" + ONE, ONE + "\n" + ONE)[len(SPDX) :]
    write_files(tree, {"src/a.cu": moved.replace("(e);", "(e);  // why")})
    assert check(tree) == (0, [], "")


def test_one_more_of_the_same_is_new(tree: Path) -> None:
    write_files(tree, {"src/a.cu": host(ONE, ONE * 3), "src/b.cu": host(ONE, ONE)})
    assert check(tree) == (1, ["src/a.cu:8:3", "src/b.cu:6:3"], "")


def test_what_is_fixed_is_told_and_taken_out(tree: Path) -> None:
    write_files(tree, {"src/a.cu": host("", ONE)})
    (tree / "src/b.cu").unlink()
    code, places, said = check(tree)
    assert (code, places) == (0, [])
    assert said == (
        f"cudalint: note: 3 findings are fixed that stood in {FILE}; "
        f"'cudalint baseline write --baseline {FILE}' takes them out\n"
    )
    done = start(tree, "baseline", "write", *NEVER)
    assert done.stdout == f"1 finding in {FILE} (3 fixed and taken out)\n"
    assert check(tree) == (0, [], "")


def test_writing_again_only_shrinks_unless_told(tree: Path) -> None:
    write_files(tree, {"src/a.cu": host(ONE, ONE + ONE, ONE), "src/b.cu": host("")})
    done = start(tree, "baseline", "write", *NEVER)
    assert (done.returncode, done.stdout) == (1, f"3 findings in {FILE} (1 fixed and taken out)\n")
    assert done.stderr == "cudalint: warning: 1 new finding not put in: --allow-new does that\n"
    assert check(tree)[:2] == (1, ["src/a.cu:10:3"])
    done = start(tree, "baseline", "write", *NEVER, "--allow-new")
    assert (done.returncode, done.stdout) == (0, f"4 findings in {FILE} (1 added)\n")
    assert check(tree)[:2] == (0, [])


def test_only_what_ran_is_called_fixed(tree: Path) -> None:
    write_files(tree, {"src/a.cu": host("", "")})
    assert check(tree, "--select", "CU1") == (0, [], "")
    assert start(tree, *NEVER, "--baseline", FILE, "src/b.cu").stderr == ""
    done = start(tree, "baseline", "write", *NEVER, "--select", "CU1")
    assert done.stdout == f"4 findings in {FILE}\n"


def test_the_file_is_the_same_from_everywhere(tree: Path) -> None:
    text = (tree / FILE).read_text()
    (tree / "src/deep").mkdir()
    start(tree / "src", "baseline", "write", "--baseline", f"../{FILE}.2", *NEVER, "..")
    assert (tree / f"{FILE}.2").read_text() == text
    done = start(tree / "src", *NEVER, "--baseline", f"../{FILE}", "a.cu", "b.cu")
    assert (done.returncode, done.stderr) == (0, "")


def test_suppressions_and_fixes_do_not_count_it(tree: Path) -> None:
    before = (tree / "src/a.cu").read_text()
    write_files(tree, {"src/c.cu": "int x;\n"})
    assert start(tree, *NEVER, "--fix", "--baseline", FILE, ".").returncode == 0
    assert (tree / "src/a.cu").read_text() == before
    assert (tree / "src/c.cu").read_text() == SPDX + "int x;\n"


def test_sarif_and_json(tree: Path) -> None:
    sarif = ("--output-format", "sarif", "--baseline", FILE)
    log = json.loads(start(tree, *NEVER, *sarif, ".").stdout)
    assert log["runs"][0]["results"] == []
    log = json.loads(start(tree, *NEVER, *sarif, "--sarif-suppressed", "include", ".").stdout)
    suppressions = [result["suppressions"] for result in log["runs"][0]["results"]]
    wanted = {
        "kind": "external",
        "status": "accepted",
        "justification": "It is in the baseline.",
    }
    assert suppressions == [[wanted]] * 4
    data = json.loads(
        start(tree, *NEVER, "--output-format", "json", "--baseline", FILE, ".").stdout
    )
    assert data["findings"] == []
    assert [one["finding"]["code"] for one in data["baselined"]] == ["CU302"] * 4
    assert data["summary"]["baselined"] == 4


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (None, f"there is no baseline {FILE}: 'cudalint baseline write --baseline {FILE}' makes"),
        ("[]", f"{FILE} is no baseline of cudalint: Expected `object`, got `array`"),
        ("{", f"{FILE} is no baseline of cudalint: "),
        ('{"version": 2, "findings": []}', f"{FILE} is a baseline of version 2, where"),
        ('{"findings": [], "x": 1}', f"{FILE} is no baseline of cudalint: "),
    ],
)
def test_a_file_that_is_none_is_one_line(tree: Path, text: str | None, complaint: str) -> None:
    (tree / FILE).unlink()
    if text is not None:
        write_files(tree, {FILE: text})
    done = start(tree, *NEVER, "--baseline", FILE, ".")
    assert done.returncode == 2
    assert done.stderr.startswith(f"cudalint: error: {complaint}")
    assert done.stderr.count("\n") == 1


def test_nothing_is_written_when_the_run_fails(tree: Path) -> None:
    before = (tree / FILE).read_text()
    done = start(tree, "baseline", "write", *NEVER, "src", "gone.cu")
    assert (done.returncode, done.stdout) == (2, "")
    assert "no such file or folder: 'gone.cu'" in done.stderr
    assert (tree / FILE).read_text() == before
    assert start(tree, "baseline", "write", "--baseline", "no/where.json", *NEVER).returncode == 2
    assert start(tree, "baseline").stderr == "cudalint: error: Missing command.\n"
    sharded = start(tree, *NEVER, "--baseline", FILE, "--shard", "1/2", ".")
    assert "--baseline can't go with --shard" in sharded.stderr
