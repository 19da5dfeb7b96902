"""discover: folders, patterns, gitignore, links, duplicates, and paths that are no good."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from cudalint.discovery.arguments import Discovery, discover, read_context
from cudalint.settings.model import Settings


def find(root: Path, *arguments: str, cwd: Path | None = None, **settings: Any) -> Discovery:
    force = settings.pop("force_exclude", False)
    cwd = cwd or root
    return discover(arguments, str(root), str(cwd), Settings(**settings), force_exclude=force)


def touch(root: Path, *paths: str, text: str = "int x;\n") -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)


def told(discovery: Discovery) -> list[tuple[str, str]]:
    return [(note.id, note.message) for note in discovery.notifications]


def test_a_folder_gives_its_sources_and_manifests_sorted(tmp_path: Path) -> None:
    suffixes = ["cu", "cuh", "h", "hpp", "cpp", "cc", "cxx", "inl"]
    touch(tmp_path, *(f"d/x.{suffix}" for suffix in suffixes), "d/KERNEL.toml", "d/HARDWARE.toml")
    touch(tmp_path, "d/MODEL.toml", "d/other.toml", "d/readme.md", "d/x.cub", "d/x.py", "a.cu")
    found = find(tmp_path, ".")
    assert list(found.sources) == sorted(
        [
            "a.cu",
            *(f"d/x.{s}" for s in suffixes),
            "d/HARDWARE.toml",
            "d/KERNEL.toml",
            "d/MODEL.toml",
        ]
    )
    assert all(source.requested for source in found.sources.values())
    assert found.notifications == ()


def test_a_file_is_read_once_however_often_it_is_named(tmp_path: Path) -> None:
    touch(tmp_path, "d/a.cu")
    (tmp_path / "link.cu").symlink_to("d/a.cu")
    (tmp_path / "e").symlink_to("d")
    found = find(tmp_path, "d/a.cu", "./d/../d/a.cu", "d", ".", "e/a.cu", str(tmp_path / "d"))
    assert list(found.sources) == ["d/a.cu"]


def test_in_a_walk_a_file_goes_by_its_own_name(tmp_path: Path) -> None:
    touch(tmp_path, "z/real.cu")
    (tmp_path / "a.cu").symlink_to("z/real.cu")
    assert list(find(tmp_path, ".").sources) == ["z/real.cu"]


def test_symbolic_links_that_go_round_in_circles(tmp_path: Path) -> None:
    touch(tmp_path, "d/a.cu")
    (tmp_path / "d" / "up").symlink_to("..")
    (tmp_path / "d" / "self").symlink_to("self")
    (tmp_path / "d" / "self.cu").symlink_to("self.cu")
    assert "d/a.cu" in find(tmp_path, ".").sources


def test_links_out_of_the_root_are_not_followed_when_walking(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    touch(outside, "secret.cu")
    touch(root, "a.cu")
    (root / "secret.cu").symlink_to(outside / "secret.cu")
    (root / "folder").symlink_to(outside)
    assert list(find(root, ".").sources) == ["a.cu"]


def test_links_inside_the_root_are_followed(tmp_path: Path) -> None:
    touch(tmp_path, "build/gen/a.cu", "src/b.cu")
    (tmp_path / "src" / "gen").symlink_to("../build/gen")
    assert list(find(tmp_path, "src").sources) == ["src/b.cu", "src/gen/a.cu"]


def test_a_file_outside_the_root_may_be_named(tmp_path: Path) -> None:
    touch(tmp_path, "root/a.cu", "other/b.cu")
    found = find(tmp_path / "root", "../other")
    assert list(found.sources) == ["../other/b.cu"]


def test_default_exclusions_spare_what_is_named(tmp_path: Path) -> None:
    touch(tmp_path, "build/a.cu", ".git/b.cu", "node_modules/x/c.cu", "d.cu")
    assert list(find(tmp_path, ".").sources) == ["d.cu"]
    assert list(find(tmp_path, "build").sources) == ["build/a.cu"]
    assert list(find(tmp_path, "build/a.cu").sources) == ["build/a.cu"]


def test_exclude_replaces_and_extend_exclude_adds(tmp_path: Path) -> None:
    touch(tmp_path, "build/a.cu", "gen/b.cu", "c.cu", "sub/gen/d.cu", "sub/keep_gen.cu")
    assert list(find(tmp_path, ".", exclude=("/gen/",)).sources) == [
        "build/a.cu",
        "c.cu",
        "sub/gen/d.cu",
        "sub/keep_gen.cu",
    ]
    extended = find(tmp_path, ".", extend_exclude=("*gen*", "!keep_gen.cu"))
    assert list(extended.sources) == ["c.cu", "sub/keep_gen.cu"]


def test_exclude_is_relative_to_the_root_from_any_folder(tmp_path: Path) -> None:
    touch(tmp_path, "kernels/gen/a.cu", "kernels/b.cu")
    found = find(tmp_path, ".", cwd=tmp_path / "kernels", extend_exclude=("kernels/gen",))
    assert list(found.sources) == ["kernels/b.cu"]


def test_force_exclude_holds_for_named_files_too(tmp_path: Path) -> None:
    touch(tmp_path, "gen/a.cu", "b.cu")
    found = find(tmp_path, "gen/a.cu", "b.cu", extend_exclude=("gen",), force_exclude=True)
    assert list(found.sources) == ["b.cu"]
    assert found.notifications == ()
    emptied = find(tmp_path, "gen/a.cu", "gen", extend_exclude=("gen",), force_exclude=True)
    assert emptied.sources == {}
    assert [note.level.value for note in emptied.notifications] == ["note"]


def test_force_exclude_makes_an_emptied_folder_no_error(tmp_path: Path) -> None:
    touch(tmp_path, "gen/a.cu", "out/b.cu", "docs/c.txt")
    (tmp_path / ".gitignore").write_text("out\n")
    emptied = find(tmp_path, ".", extend_exclude=("gen",), force_exclude=True)
    assert told(emptied) == [
        ("all-excluded", "nothing to lint: every path given is excluded"),
    ]
    assert emptied.notifications[0].level.value == "note"
    without = find(tmp_path, "docs", extend_exclude=("gen",), force_exclude=True)
    assert told(without) == [("nothing-to-lint", "no CUDA files in 'docs'")]
    unforced = find(tmp_path, ".", extend_exclude=("gen",))
    assert told(unforced) == [("nothing-to-lint", "no CUDA files in '.'")]


def test_gitignore_files_nest_and_the_deeper_one_wins(tmp_path: Path) -> None:
    touch(tmp_path, "a.cu", "gen.cu", "sub/gen.cu", "sub/b.cu", "out/c.cu", "sub/deep/out/d.cu")
    (tmp_path / ".gitignore").write_text("# made\ngen.cu\nout/\n")
    (tmp_path / "sub" / ".gitignore").write_text("!gen.cu\n/b.cu\n")
    assert list(find(tmp_path, ".").sources) == ["a.cu", "sub/gen.cu"]
    assert list(find(tmp_path, ".", respect_gitignore=False).sources) == [
        "a.cu",
        "gen.cu",
        "out/c.cu",
        "sub/b.cu",
        "sub/deep/out/d.cu",
        "sub/gen.cu",
    ]


def test_gitignore_above_the_folder_counts_up_to_the_repository(tmp_path: Path) -> None:
    repository = tmp_path / "repository"
    touch(repository, "sub/a.cu", "sub/gen.cu", "sub/local.cu", "sub/far.cu")
    (repository / ".git" / "info").mkdir(parents=True)
    (repository / ".git" / "info" / "exclude").write_text("local.cu\n")
    (repository / ".gitignore").write_text("gen.cu\n")
    (tmp_path / ".gitignore").write_text("far.cu\n")
    found = find(repository / "sub", ".")
    assert list(found.sources) == ["a.cu", "far.cu"]


def test_an_ignored_folder_is_linted_when_it_is_named(tmp_path: Path) -> None:
    touch(tmp_path, "out/a.cu", "out/gen.cu")
    (tmp_path / ".gitignore").write_text("out/\n")
    (tmp_path / "out" / ".gitignore").write_text("gen.cu\n")
    assert list(find(tmp_path, "out").sources) == ["out/a.cu"]
    assert list(find(tmp_path, "out/gen.cu").sources) == ["out/gen.cu"]


def test_patterns_that_no_shell_expanded(tmp_path: Path) -> None:
    touch(tmp_path, "a.cu", "b.cuh", "sub/c.cu", "sub/readme.md", "[x].cu")
    assert list(find(tmp_path, "*.cu").sources) == ["[x].cu", "a.cu"]
    assert list(find(tmp_path, "**/*.cu").sources) == ["[x].cu", "a.cu", "sub/c.cu"]
    assert list(find(tmp_path, "sub/*").sources) == ["sub/c.cu"]
    assert list(find(tmp_path, "s*").sources) == ["sub/c.cu"]
    assert list(find(tmp_path, "[x].cu").sources) == ["[x].cu"]
    assert told(find(tmp_path, "*.cc")) == [("missing-path", "no CUDA files match '*.cc'")]


def test_what_is_missing_is_told_and_the_rest_is_read(tmp_path: Path) -> None:
    touch(tmp_path, "a.cu", "notes.txt")
    (tmp_path / "empty").mkdir()
    (tmp_path / "dangling.cu").symlink_to("nowhere.cu")
    found = find(tmp_path, "gone.cu", "empty", "notes.txt", "dangling.cu", "a.cu")
    assert list(found.sources) == ["a.cu"]
    assert told(found) == [
        ("missing-path", "no such file or folder: 'gone.cu'"),
        ("nothing-to-lint", "no CUDA files in 'empty'"),
        (
            "not-cuda",
            "no CUDA source: 'notes.txt' (known: .cu .cuh .h .hpp .cpp .cc .cxx .inl)",
        ),
        ("missing-path", "broken symbolic link: 'dangling.cu'"),
    ]
    assert {note.level.value for note in found.notifications} == {"error"}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_without_permission_is_told(tmp_path: Path) -> None:
    touch(tmp_path, "a.cu", "locked/b.cu")
    (tmp_path / "locked").chmod(0)
    try:
        found = find(tmp_path, ".")
    finally:
        (tmp_path / "locked").chmod(0o700)
    assert list(found.sources) == ["a.cu"]
    assert told(found) == [("unreadable-folder", "cannot read folder 'locked': Permission denied")]


def test_context_is_read_but_not_requested(tmp_path: Path) -> None:
    touch(tmp_path, "a.cu", "b.cu", "KERNEL.toml")
    asked = find(tmp_path, "a.cu").sources
    paths = ["KERNEL.toml", "a.cu", "b.cu", "gone.cu"]
    context = read_context(paths, str(tmp_path), Settings(), asked)
    assert [(path, file.requested) for path, file in context.items()] == [
        ("KERNEL.toml", False),
        ("b.cu", False),
    ]
