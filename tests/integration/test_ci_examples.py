"""The examples of docs/ci.md: their form by the official schemas, and their commands, run.

cudalint is the working tree's; what would install it is recorded and compared with what
the project offers. Installing for real is test_tutorial.py's.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement

from conftest import write_files
from transcripts import install_program

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/ci.md").read_text(encoding="utf-8")
FILES = dict(
    re.findall(r"<!-- file: (\S+) -->\n```\w+\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
)
WORKFLOWS = [name for name in FILES if name.startswith(".github/")]

SPDX = "// SPDX-License-Identifier: MIT OR Apache-2.0\n"
BAD = SPDX + "void f(cudaEvent_t e) { cudaEventRecord(e); }\n"
PIP = '#!/bin/sh\nprintf "%s\\n" "$@" >>"$RECORD"\n'
PYTHON = """\
#!/bin/sh
test "$*" = "-m venv .venv" && mkdir -p .venv/bin && ln -s "$BIN/pip" "$BIN/cudalint" .venv/bin
"""


class Machine:
    """A checkout with a finding in it, and what a CI machine has on PATH."""

    def __init__(self, folder: Path) -> None:
        self.checkout = folder / "checkout"
        self._record = folder / "record"
        programs = folder / "bin"
        install_program(programs)
        for name, text in (("pip", PIP), ("python3", PYTHON)):
            (programs / name).write_text(text)
            (programs / name).chmod(0o755)
        settings = 'compile = "never"\n'
        write_files(self.checkout, {"kernels/k.cu": BAD, "cudalint.toml": settings})
        self._environment = {
            **os.environ,
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "BIN": str(programs),
            "RECORD": str(self._record),
        }

    def run(self, *commands: str) -> int:
        """The exit code of the first of the commands that fails; none after it is run."""
        for command in commands:
            line = ["bash", "-e", "-c", command]
            code = subprocess.run(line, cwd=self.checkout, env=self._environment).returncode
            if code:
                return code
        return 0

    def installed(self) -> list[Requirement]:
        words = self._record.read_text().split("\n")
        return [Requirement(word) for word in words if word and word != "install"]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def check_installed(machine: Machine) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for requirement in machine.installed():
        assert requirement.name == project["name"]
        assert requirement.extras <= set(project["optional-dependencies"])


def rules(log: Path) -> list[str]:
    return [result["ruleId"] for result in json.loads(log.read_text())["runs"][0]["results"]]


def test_the_examples_are_there() -> None:
    assert len(WORKFLOWS) == 3
    assert set(FILES) - set(WORKFLOWS) == {".gitlab-ci.yml", "Jenkinsfile"}


@pytest.mark.parametrize(
    ("schema", "names"),
    [("github-workflows", WORKFLOWS), ("gitlab-ci", [".gitlab-ci.yml"])],
)
def test_their_form_is_that_of_the_official_schemas(
    schema: str, names: list[str], tmp_path: Path
) -> None:
    write_files(tmp_path, {name: FILES[name] for name in names})
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}"]
    done = subprocess.run([*command, *names], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def steps(name: str, job: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = yaml.safe_load(FILES[name])["jobs"][job]["steps"]
    return found


def test_the_action_is_given_inputs_that_it_has_and_all_are_told() -> None:
    inputs = yaml.safe_load((ROOT / "action.yml").read_text())["inputs"]
    (ours,) = (s for s in steps(WORKFLOWS[0], "cudalint") if s["uses"].startswith("cudalint/"))
    assert set(ours["with"]) <= set(inputs)
    rows = re.findall(r"^\| `([\w-]+)` \| (?:`(.*?)`)? ?\|", PAGE, re.MULTILINE)
    assert rows == [(name, given["default"]) for name, given in inputs.items()]


def test_github_without_the_action(machine: Machine) -> None:
    of_job = steps(".github/workflows/lint.yml", "lint")
    assert machine.run(*(step["run"] for step in of_job if "run" in step)) == 1
    check_installed(machine)
    upload = of_job[-1]
    assert upload["if"] == "always()"
    assert rules(machine.checkout / upload["with"]["sarif_file"]) == ["CU302"]


def test_a_matrix_of_github(machine: Machine) -> None:
    for shard in (1, 2, 3, 4):
        for step in steps(".github/workflows/shards.yml", "lint"):
            command = step.get("run", "true").replace("${{ matrix.shard }}", str(shard))
            assert "${{" not in command
            assert machine.run(command) == 0 or step["continue-on-error"]
    report = steps(".github/workflows/shards.yml", "report")
    assert machine.run(*(step["run"] for step in report if "run" in step)) == 1
    check_installed(machine)
    assert rules(machine.checkout / report[-1]["with"]["sarif_file"]) == ["CU302"]


def test_gitlab(machine: Machine) -> None:
    job = yaml.safe_load(FILES[".gitlab-ci.yml"])["cudalint"]
    assert machine.run(*job["script"]) == 1
    check_installed(machine)
    report = machine.checkout / job["artifacts"]["reports"]["codequality"]
    assert [entry["check_name"] for entry in json.loads(report.read_text())] == [
        "event-record-without-stream"
    ]
    assert job["artifacts"]["when"] == "always"


def test_jenkins(machine: Machine) -> None:
    text = FILES["Jenkinsfile"]
    assert_balanced(text)
    found = re.findall(r"^ *sh (['\"])(.*)\1$", text, re.MULTILINE)
    commands = [command for _, command in found]
    assert len(commands) == text.count(" sh ") == 3
    assert "\\" not in text  # nothing that Groovy would read otherwise than it stands
    assert "$" not in text
    assert machine.run(*commands) == 1
    check_installed(machine)
    (log,) = re.findall(r"sarif\(pattern: '(.*?)'\)", text)
    assert rules(machine.checkout / log) == ["CU302"]
    (results,) = re.findall(r"junit '(.*?)'", text)
    assert "CU302" in (machine.checkout / results).read_text()


def assert_balanced(groovy: str) -> None:
    """Brackets outside strings close in the order in which they were opened."""
    bare = re.sub(r"'[^'\n]*'|\"[^\"\n]*\"", "", groovy)
    opened: list[str] = []
    for character in bare:
        if character in "([{":
            opened.append({"(": ")", "[": "]", "{": "}"}[character])
        elif character in ")]}":
            assert opened.pop() == character
    assert not opened
