"""`cudalint config`: what holds, where it came from, and the schema for editors."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import msgspec
import pytest
from click.testing import CliRunner, Result

from conftest import write_files
from cudalint.cli.group import cli
from cudalint.registry import all_rules
from cudalint.settings.inforce import default_of
from cudalint.settings.meaning import MEANING
from cudalint.settings.model import Settings
from cudalint.settings.schema import schema

TOML = """\
ignore = ["CU303"]
cold-functions = ["boot"]

[per-file-ignores]
"old/**" = ["CU1"]

[rules.CU501]
level = "warning"
budget = 16
"""


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_files(tmp_path, {"cudalint.toml": TOML, "old/a.cu": "", "new/a.cu": ""})
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["config", *arguments], standalone_mode=False)


def test_every_key_has_a_meaning() -> None:
    assert sorted(MEANING) == sorted(f.encode_name for f in msgspec.structs.fields(Settings))


def test_what_holds_and_where_it_came_from(tree: Path) -> None:
    rows = {row["key"]: row for row in json.loads(run("--format", "json").output)}
    assert rows["ignore"] == {"key": "ignore", "value": ["CU303"], "from": "cudalint.toml:1:1"}
    assert rows["select"] == {"key": "select", "value": ["ALL"], "from": None}
    assert rows['per-file-ignores."old/**"']["from"] == "cudalint.toml:5:1"
    assert rows["rules.CU501.level"]["from"] == "cudalint.toml:8:1"
    assert rows["rules.CU501.budget"] == {
        "key": "rules.CU501.budget",
        "value": 16,
        "from": "cudalint.toml:9:1",
    }


def test_settings_in_pyproject(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_files(tmp_path, {"pyproject.toml": "[tool.cudalint]\npreview = true\n"})
    monkeypatch.chdir(tmp_path)
    assert "preview           = true  (pyproject.toml:2:1)\n" in run().output
    assert "preview           = false  (default)\n" in run("--isolated").output


def test_a_key_is_explained_with_its_default(tree: Path) -> None:
    assert run("cold-functions").output == (
        f"cold-functions: {MEANING['cold-functions']}\n"
        'cold-functions = ["boot"]  (cudalint.toml:2:1)\n'
        f"default: {json.dumps(default_of('cold-functions'), separators=(',', ':'))}\n"
    )
    assert 'rules.CU501.level = "warning"' in run("rules.CU501").output
    assert "nothing is set for rules.CU502" in run("rules.CU502").output


def test_which_rules_that_makes_for_a_file(tree: Path) -> None:
    selected = len([rule for rule in all_rules() if rule.default and not rule.preview]) - 1
    said = f"{selected} of {len(all_rules())} rules run\n"
    assert run("--for", "new/a.cu").output.endswith(said)
    last = run("--for", "old/a.cu").output.splitlines()[-1]
    assert last.startswith("not reported in old/a.cu: CU101, CU102,")
    assert last.endswith("(per-file-ignores)")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["cold-function"], "there is no key 'cold-function'; did you mean 'cold-functions'?"),
        (["--for", "nowhere"], "there is no 'nowhere'"),
        (["--config", "nowhere.toml"], "cannot read nowhere.toml: No such file or directory"),
    ],
)
def test_bad_questions_are_one_line(tree: Path, arguments: list[str], said: str) -> None:
    command = [sys.executable, "-m", "cudalint", "config", *arguments]
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"cudalint: error: {said}\n"


def test_the_schema_takes_what_the_program_takes() -> None:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib

    document = schema(all_rules())
    jsonschema.Draft202012Validator.check_schema(document)
    validator = jsonschema.Draft202012Validator(document)
    validator.validate(tomllib.loads(TOML))
    for wrong in (
        {"selct": []},
        {"compile": "sometimes"},
        {"rules": {"CU999": {}}},
        {"rules": {"CU501": {"budgets": 3}}},
        {"rules": {"register-spill": {"level": "fatal"}}},
        {"targets": ["sm_x"]},
    ):
        assert not validator.is_valid(wrong), wrong
    assert json.loads(run("--schema").output) == json.loads(json.dumps(document))
