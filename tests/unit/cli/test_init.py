"""`cudalint init`: what it writes is valid and changes nothing, and nothing is written over."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from cudalint.cli.group import cli
from cudalint.settings.load import load_settings
from cudalint.settings.model import Settings
from cudalint.settings.starting import PRE_COMMIT, starting_settings

HOOKS = Path(__file__).parents[3] / ".pre-commit-hooks.yaml"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["init", *arguments], standalone_mode=False)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_settings_written_are_the_defaults(folder: Path) -> None:
    assert run().return_value == 0
    assert load_settings((".",), folder).origin is not None
    assert load_settings((".",), folder).settings == Settings()


def test_every_line_that_is_commented_out_is_valid(folder: Path) -> None:
    """With the comment signs taken away: all keys, at their defaults."""
    keys = re.compile(r'# (?=[a-z-]+ = \S|\[|\]|    "|")')
    text = "\n".join(keys.sub("", line, count=1) for line in starting_settings().splitlines())
    (folder / "cudalint.toml").write_text(text)
    settings = load_settings((".",), folder).settings
    assert settings.per_file_ignores == {"tests/**": ("CU1",)}
    assert settings.exclude == Settings().exclude
    assert settings.max_file_size == Settings().max_file_size


def test_what_is_there_is_left_as_it_is(folder: Path) -> None:
    (folder / "cudalint.toml").write_text("# mine\n")
    (folder / ".pre-commit-config.yaml").write_text("repos: []\n")
    done = run("--pre-commit")
    assert done.return_value == 2
    assert "cudalint.toml is there already" in done.output
    assert PRE_COMMIT in done.output
    assert (folder / "cudalint.toml").read_text() == "# mine\n"
    assert (folder / ".pre-commit-config.yaml").read_text() == "repos: []\n"


def test_the_stanza_names_the_hooks_there_are(folder: Path) -> None:
    assert run("--pre-commit").return_value == 0
    (repo,) = yaml.safe_load((folder / ".pre-commit-config.yaml").read_text())["repos"]
    named = [hook["id"] for hook in repo["hooks"]]
    assert named == [hook["id"] for hook in yaml.safe_load(HOOKS.read_text())]


def test_a_folder_that_cannot_be_written_is_one_line(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    done = run()
    assert done.return_value == 2
    assert done.output == "cudalint: error: cannot write cudalint.toml: Permission denied\n"
