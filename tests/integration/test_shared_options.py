"""Options that several commands have, tried with each of them: what is read, and how."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from test_cli import BAD, GOOD, NEVER

from conftest import write_files
from inside import inside

COMMANDS = [("baseline", "write"), ("graph", "f"), ("resources",), ("tree",)]
"""Those that read sources; `check` has its own tests."""
FOR_EACH = pytest.mark.parametrize("command", COMMANDS, ids=" ".join)

CODE = "#pragma once\nvoid f() { g(); }\n"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A header alone: with no kernel in it, nothing is compiled by any command."""
    write_files(tmp_path, {"gb10/common/h.cuh": CODE, "gb10/common/KERNEL.toml": ""})
    return tmp_path


@FOR_EACH
def test_the_settings_of_a_file_and_none(command: tuple[str, ...], tree: Path) -> None:
    write_files(tree, {"cudalint.toml": "selct = 1\n", "other.toml": "slect = 1\n"})
    said = inside(tree, *command)
    assert (said.code, "cudalint.toml:1:1: unknown key 'selct'" in said.err) == (2, True)
    said = inside(tree, *command, "--config", "other.toml")
    assert (said.code, "other.toml:1:1: unknown key 'slect'" in said.err) == (2, True)
    assert "unknown key" not in inside(tree, *command, "--isolated").err


@FOR_EACH
def test_files_left_out(command: tuple[str, ...], tree: Path) -> None:
    said = inside(tree, *command, "--exclude", "*.cuh, KERNEL.toml", ".")
    assert (said.code, "no CUDA files in '.'" in said.err) == (2, True)
    left_out = ("--exclude", "*.cuh", "gb10/common/h.cuh")
    assert "every path given is excluded" not in inside(tree, *command, *left_out).err
    said = inside(tree, *command, "--force-exclude", *left_out)
    assert "every path given is excluded" in said.err


@FOR_EACH
def test_a_compilation_database(command: tuple[str, ...], tree: Path) -> None:
    said = inside(tree, *command, "--compile-commands", "gone.json")
    assert said.code == 2
    assert "gone.json" in said.err


@FOR_EACH
def test_processes(command: tuple[str, ...], tree: Path) -> None:
    for said in (inside(tree, *command, "--jobs", "0"), inside(tree, *command, "-j", "none")):
        assert said.code == 2
        assert "is neither a positive number nor 'auto'" in said.err
    said = inside(tree, *command, "-j", "2")
    assert said.code in (0, 2)
    assert "positive number" not in said.err


@FOR_EACH
def test_the_cache_and_none(command: tuple[str, ...], tree: Path) -> None:
    inside(tree, *command, "--cache-dir", "kept", "--no-cache")
    assert not (tree / "kept").exists()
    inside(tree, *command, "--cache-dir", "kept")
    assert list((tree / "kept" / "models").glob("*/*"))


@pytest.mark.parametrize("command", [command for command in COMMANDS if command[0] != "tree"])
def test_what_went_wrong_in_detail(command: tuple[str, ...], tree: Path) -> None:
    database = [
        {
            "directory": str(tree),
            "file": "a.cu",
            "command": "nvcc -I/outside/one -I/outside/two -c a.cu",
        }
    ]
    write_files(
        tree,
        {
            "a.cu": '#include "lacking.h"\nvoid f() { g(); }\n',
            "compile_commands.json": json.dumps(database),
            "cudalint.toml": 'compile = "auto"\n',
        },
    )
    told = "include folders outside the project root are not searched: /outside/one and 1 more"
    said = inside(tree, *command)
    assert told in said.err
    assert "/outside/two" not in said.err
    assert "/outside/one\n/outside/two\n" in inside(tree, *command, "--verbose").err


@pytest.mark.parametrize("command", [("check",), ("baseline", "write"), ("resources",)])
def test_a_launcher_that_can_be_none(command: tuple[str, ...], tree: Path) -> None:
    said = inside(tree, *command, "--compiler-launcher", "./make")
    assert (said.code, said.out) == (2, "")
    assert "'./make' is neither one of ccache, sccache, distcc, none nor an absolute" in said.err


WRITE = ("baseline", "write", "--baseline", "b.json")


def written(root: Path) -> list[tuple[str, str]]:
    """The code and path of each entry of the baseline that was written; it is taken away."""
    file = root / "b.json"
    entries = json.loads(file.read_text())["findings"]
    file.unlink()
    return [(entry["code"], entry["path"]) for entry in entries]


def test_a_baseline_of_the_rules_that_are_chosen(tmp_path: Path) -> None:
    write_files(tmp_path, {"a.cu": BAD.partition("\n")[2]})
    assert inside(tmp_path, *WRITE, *NEVER).code == 0
    assert written(tmp_path) == [("CU101", "a.cu"), ("CU108", "a.cu")]
    inside(tmp_path, *WRITE, "--compile", "never", "--ignore", "CU101")
    assert written(tmp_path) == [("CU108", "a.cu")]
    inside(tmp_path, *WRITE, *NEVER, "--select", "CU101")
    assert written(tmp_path) == [("CU101", "a.cu")]
    inside(tmp_path, *WRITE, *NEVER, "--select", "CU101", "--extend-select", "CU108")
    assert written(tmp_path) == [("CU101", "a.cu"), ("CU108", "a.cu")]
    said = inside(tmp_path, *WRITE, *NEVER, "--plugin", "no-such-plugin")
    assert (said.code, "plugin 'no-such-plugin' is not installed" in said.err) == (2, True)


def test_a_baseline_of_files_from_a_list_and_from_stdin(tmp_path: Path) -> None:
    write_files(tmp_path, {"a.cu": BAD, "b.cu": BAD, "list.txt": "b.cu\n"})
    inside(tmp_path, *WRITE, *NEVER, "--files-from", "list.txt")
    assert written(tmp_path) == [("CU108", "b.cu")]
    inside(tmp_path, *WRITE, *NEVER, "--stdin-filename", "c.cu", "-", stdin=BAD.encode())
    assert written(tmp_path) == [("CU108", "c.cu")]


DIVERGENT = GOOD.replace("*x = 1;", "if (threadIdx.x < 7) __syncthreads();")


@pytest.mark.parametrize("command", [("check", "--output", "json:b.json"), WRITE])
def test_rules_in_preview(command: tuple[str, ...], tmp_path: Path) -> None:
    def said() -> bool:
        file = tmp_path / "b.json"
        text = file.read_text()
        file.unlink()
        return "CU208" in text

    command = (*command, *NEVER, "--select", "CU2")
    write_files(tmp_path, {"a.cu": DIVERGENT, "cudalint.toml": "preview = true\n"})
    inside(tmp_path, *command)
    assert said()
    inside(tmp_path, *command, "--no-preview")
    assert not said()
    write_files(tmp_path, {"cudalint.toml": ""})
    inside(tmp_path, *command)
    assert not said()
    inside(tmp_path, *command, "--preview")
    assert said()


def test_check_alone(tmp_path: Path) -> None:
    write_files(tmp_path, {"a.cu": BAD})
    said = inside(tmp_path, *NEVER, "-j", "1", "--output", "sarif", "--sarif-category", "lint/gpu")
    assert json.loads(said.out)["runs"][0]["automationDetails"]["id"].startswith("lint/gpu")
    said = inside(tmp_path, "--plugin", "no-such-plugin", *NEVER, "a.cu")
    assert (said.code, "plugin 'no-such-plugin' is not installed" in said.err) == (2, True)


def test_the_server_keeps_its_cache_where_it_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pygls")
    kept: list[Path | None] = []

    class Silent:
        def start_io(self) -> None:
            pass

    def make(cache: Path | None) -> Silent:
        kept.append(cache)
        return Silent()

    monkeypatch.setattr("cudalint.lsp.server.make_server", make)
    assert inside(tmp_path, "server", "--cache-dir", "kept").code == 0
    assert inside(tmp_path, "server", "--no-cache").code == 0
    assert kept == [Path("kept"), None]
