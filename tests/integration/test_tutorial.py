"""docs/tutorial.md, followed to the letter: its files written, its commands run in one shell.

What is not of this machine is the address of the project, which leads to a copy of the
working tree (`published`). The workflow at the end is run as GitHub would, from action.yml.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from composite import run_action
from published import Published
from transcripts import follow

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "tutorial.md"

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")


def test_it_is_read_in_five_minutes() -> None:
    assert len(PAGE.read_text().split()) <= 1000  # at 200 words a minute


def test_from_an_empty_folder_to_code_review(tmp_path: Path, published: Published) -> None:
    folder = tmp_path / "demo"
    folder.mkdir()
    guide = PAGE.read_text()
    assert follow(guide, folder, published.environment) == guide
    workflow = folder / ".github/workflows/cudalint.yml"
    _check_form(workflow)
    _code_review(folder, workflow, published, tmp_path)


def _check_form(workflow: Path) -> None:
    command = [sys.executable, "-m", "check_jsonschema"]
    command += ["--builtin-schema", "vendor.github-workflows", str(workflow)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def _code_review(folder: Path, workflow: Path, published: Published, tmp_path: Path) -> None:
    """Run the workflow's step of ours, with all of action.yml, on the commit and on a worse one."""
    (job,) = yaml.safe_load(workflow.read_text())["jobs"].values()
    checkout, ours = job["steps"]
    assert checkout["uses"].startswith("actions/checkout@")
    assert re.fullmatch(r"cudalint/cudalint@v\d+\.\d+\.\d+", ours["uses"])
    temp = tmp_path / "temp"
    temp.mkdir()
    # The environment that the tutorial made has what cudalint needs, but for an nvcc, which
    # pre-commit installed already; all else is done anew.
    shutil.move(folder / ".venv", temp / "cudalint-venv")
    environment = published.environment
    clean = run_action(
        published.repository, {**ours["with"], "extras": ""}, folder, temp, environment
    )
    assert clean.code == 0, clean.printed
    kernel = folder / "kernels/scale.cu"
    kernel.write_text(kernel.read_text() + "void mark(cudaEvent_t e) { cudaEventRecord(e); }\n")
    skipped = ("Install cudalint",)
    worse = run_action(
        published.repository, ours["with"], folder, temp, environment, without=skipped
    )
    assert worse.code == 1
    (upload,) = worse.used.values()
    log = json.loads((folder / upload["sarif_file"]).read_text())
    (result,) = log["runs"][0]["results"]
    assert result["ruleId"] == "CU302"
    location = result["locations"][0]["physicalLocation"]
    assert location["artifactLocation"]["uri"] == os.path.join("kernels", "scale.cu")  # noqa: PTH118
