"""action.yml: its form by the official schema, and its shell steps, run in bash.

The step that installs is run in test_tutorial.py; here cudalint is the working tree's.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from composite import Outcome, run_action
from conftest import write_files
from transcripts import install_program

ROOT = Path(__file__).parents[2]
SPDX = "// SPDX-License-Identifier: MIT OR Apache-2.0\n"
GOOD = SPDX + 'extern "C" __global__ void __launch_bounds__(64) k(float* x) { *x = 1; }\n'
BAD = SPDX + "void f(cudaEvent_t e) { cudaEventRecord(e); }\n"
UPLOAD = "github/codeql-action/upload-sarif@v4"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """An empty checkout, and beside it the program where the action installs it."""
    install_program(tmp_path / "temp" / "cudalint-venv" / "bin")
    (tmp_path / "checkout").mkdir()
    return tmp_path / "checkout"


def lint(workspace: Path, **inputs: str) -> Outcome:
    given = {name.replace("_", "-"): value for name, value in inputs.items()}
    temp = workspace.parent / "temp"
    return run_action(ROOT, given, workspace, temp, without=("Install cudalint",))


def results(file: Path) -> list[str]:
    return [result["ruleId"] for result in json.loads(file.read_text())["runs"][0]["results"]]


def test_its_form_is_that_of_the_official_schema() -> None:
    command = [sys.executable, "-m", "check_jsonschema"]
    command += ["--builtin-schema", "vendor.github-actions", "action.yml"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_no_expression_is_part_of_a_script() -> None:
    steps = yaml.safe_load((ROOT / "action.yml").read_text())["runs"]["steps"]
    scripts = [step["run"] for step in steps if "run" in step]
    assert len(scripts) == 3
    assert not any("${{" in script for script in scripts)


def test_a_clean_run_uploads_a_log_without_results(workspace: Path) -> None:
    write_files(workspace, {"k.cu": GOOD})
    outcome = lint(workspace, args="--compile never")
    assert outcome.code == 0, outcome.printed
    assert outcome.outputs == {"exit-code": "0", "sarif-file": "cudalint.sarif"}
    assert outcome.used == {UPLOAD: {"sarif_file": "cudalint.sarif", "category": "cudalint"}}
    assert results(workspace / "cudalint.sarif") == []
    assert "1 kernel in 1 file" in outcome.printed


def test_findings_are_uploaded_before_the_job_fails(workspace: Path) -> None:
    write_files(workspace, {"k.cu": BAD})
    outcome = lint(workspace, sarif_file="logs of ours.sarif", args="--compile never")
    assert outcome.code == 1
    assert outcome.used[UPLOAD]["sarif_file"] == "logs of ours.sarif"
    assert results(workspace / "logs of ours.sarif") == ["CU302"]
    assert "k.cu:2:25: error CU302" in outcome.printed


def test_without_upload_findings_are_annotations(workspace: Path) -> None:
    write_files(workspace, {"k.cu": BAD})
    outcome = lint(workspace, upload="false", args="--compile never")
    assert outcome.code == 1
    assert outcome.used == {}
    assert "::error file=k.cu,line=2," in outcome.printed


def test_a_failed_run_uploads_what_it_could_say(workspace: Path) -> None:
    write_files(workspace, {"k.cu": GOOD, "cudalint.toml": "selct = []\n"})
    outcome = lint(workspace)
    assert outcome.code == 2
    assert "unknown key 'selct'" in outcome.printed
    log = json.loads((workspace / outcome.used[UPLOAD]["sarif_file"]).read_text())
    assert log["runs"][0]["invocations"][0]["executionSuccessful"] is False


def test_an_old_log_is_not_taken_for_that_of_a_run_that_wrote_none(workspace: Path) -> None:
    write_files(workspace, {"k.cu": GOOD, "cudalint.sarif": "{}"})
    outcome = lint(workspace, args="--no-such-option")
    assert outcome.code == 2
    assert outcome.used == {}
    assert outcome.outputs["sarif-file"] == ""


def test_paths_stand_one_a_line_and_arguments_as_in_a_shell(workspace: Path) -> None:
    write_files(workspace, {"a b/k.cu": BAD, "c/k.cu": BAD, "-d/k.cu": BAD, "e/k.cu": BAD})
    paths = "a b\n\n  c/k.cu  \n-d"
    args = "--select 'CU302,CU101' --exclude \"c\" --force-exclude\n--compile never"
    outcome = lint(workspace, paths=paths, args=args)
    assert outcome.code == 1
    found = re.findall(r"^(\S.*?):\d+:\d+: error", outcome.printed, re.MULTILINE)
    assert sorted(found) == ["-d/k.cu", "a b/k.cu"]


@pytest.mark.parametrize("name", ["paths", "args", "sarif_file"])
def test_no_input_is_run(workspace: Path, name: str) -> None:
    write_files(workspace, {"k.cu": GOOD})
    text = '"; touch pwned; "$(touch pwned)`touch pwned` && touch pwned #'
    lint(workspace, **{name: text})
    assert not (workspace / "pwned").exists()
