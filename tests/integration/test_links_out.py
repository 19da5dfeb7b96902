"""What a tree's own links can't do: have reports, baselines or settings elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_cli import BAD, GOOD, NEVER, start

from conftest import write_files
from inside import inside

BASELINE = "cudalint-baseline.json"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    root.mkdir()
    write_files(root, {"good.cu": GOOD, "bad.cu": BAD})
    return root


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        (BASELINE, ("baseline", "write", *NEVER, ".")),
        ("out.sarif", (*NEVER, "--output", "sarif:out.sarif", ".")),
    ],
)
@pytest.mark.parametrize("exists", [False, True])
def test_nothing_is_written_through_a_link_out(
    tree: Path, name: str, arguments: tuple[str, ...], exists: bool
) -> None:
    outside = tree.parent / "outside"
    old = b'{"version": 1, "findings": []}'
    if exists:
        outside.write_bytes(old)
    (tree / name).symlink_to(outside)
    done = start(tree, *arguments, *(["--allow-new"] if name == BASELINE else []))
    assert done.returncode == 2
    said = f"cannot write {name}: a symbolic link that leads to {outside}, outside its folder"
    assert [line for line in done.stderr.splitlines() if said in line]
    assert "Traceback" not in done.stderr
    assert (outside.read_bytes() if outside.exists() else None) == (old if exists else None)
    assert (tree / name).is_symlink()


@pytest.mark.parametrize(
    "arguments",
    [
        ("baseline", "write", *NEVER, "--baseline", "out/new.json", "."),
        (*NEVER, "--output", "sarif:out/new.sarif", "."),
        (*NEVER, "--output", "sarif:out/../new.sarif", "."),
        (*NEVER, "--output", "sarif:{tree}/out/new.sarif", "."),
    ],
)
def test_nothing_is_written_through_a_folder_that_is_a_link_out(
    tree: Path, arguments: tuple[str, ...]
) -> None:
    outside = tree.parent / "outside" / "deep"
    outside.mkdir(parents=True)
    (tree / "out").symlink_to(outside)
    done = inside(tree, *(word.format(tree=tree) for word in arguments))
    assert done.code == 2
    assert "its folder is behind a symbolic link, in " in done.err
    assert done.err.count("\n") == 1
    assert [*tree.parent.rglob("new.*")] == []


def test_folders_that_are_links_elsewhere_are_followed(tree: Path) -> None:
    """Within the working folder, and where one named another place oneself."""
    write_files(tree, {"real/.keep": ""})
    (tree / "out").symlink_to("real")
    (tree.parent / "alias").symlink_to(tree / "real")
    for number, folder in enumerate(("out", "../alias", str(tree.parent / "alias"))):
        done = inside(tree, *NEVER, "--output", f"json:{folder}/{number}.json", "good.cu")
        assert (done.code, done.err) == (0, "")
        assert (tree / "real" / f"{number}.json").is_file()


def test_a_link_within_the_folder_and_one_to_a_device_are_followed(tree: Path) -> None:
    (tree / BASELINE).symlink_to("real.json")
    assert start(tree, "baseline", "write", *NEVER, ".").returncode == 0
    assert (tree / "real.json").is_file()
    assert (tree / BASELINE).is_symlink()
    (tree / "null").symlink_to("/dev/null")
    assert start(tree, *NEVER, "--output", "json:null", "good.cu").returncode == 0
    done = start(tree, *NEVER, "--output", "json:/dev/stdout", "good.cu")
    assert done.returncode == 0
    assert '"findings": []' in done.stdout


def test_a_baseline_that_is_read_only_stays(tree: Path) -> None:
    file = tree / BASELINE
    file.write_text('{"version": 1, "findings": []}')
    file.chmod(0o444)
    done = start(tree, "baseline", "write", "--allow-new", *NEVER, ".")
    assert done.returncode == 2
    assert f"cannot write {BASELINE}: it is read-only" in done.stderr
    assert file.read_text() == '{"version": 1, "findings": []}'
    file.chmod(0o644)
    assert start(tree, "baseline", "write", "--allow-new", *NEVER, ".").returncode == 0
    assert "CU108" in file.read_text()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("cudalint.toml", "secret: not TOML\n"),
        ("pyproject.toml", '[tool.cudalint]\nignore = ["CU108"]\n'),
    ],
)
def test_settings_behind_a_link_out_are_refused(tree: Path, name: str, text: str) -> None:
    outside = tree.parent / "outside.toml"
    outside.write_text(text)
    (tree / name).symlink_to(outside)
    done = start(tree, *NEVER, ".")
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert f"{name} is a symbolic link that leads to {outside}, outside its folder" in line
    assert "secret" not in done.stdout + done.stderr


def test_settings_behind_other_links_are_read(tree: Path) -> None:
    (tree.parent / "other.toml").write_text("[tool.other]\n")
    (tree / "pyproject.toml").symlink_to("../other.toml")
    assert start(tree, *NEVER, "bad.cu").returncode == 1
    write_files(tree, {"settings/own.toml": 'ignore = ["CU108"]\n'})
    (tree / "cudalint.toml").symlink_to("settings/own.toml")
    assert start(tree, *NEVER, "bad.cu").returncode == 0
    (tree / "linked.toml").symlink_to("../other.toml")
    assert start(tree, *NEVER, "--config", "linked.toml", "good.cu").returncode == 2
