"""Flags that files override with a `#define`, and shadows whose entry points drift."""

from __future__ import annotations

import posixpath
from pathlib import Path

import pytest

from conftest import write_files
from cudalint.source import SourceFile
from cudalint.syntax.read import read_model
from cudalint.tree.drift import Drift, drift
from cudalint.tree.macroclash import macro_clashes
from cudalint.tree.read import read_trees
from cudalint.tree.shadows import shadows
from cudalint.tree.survey import SurveyedShadow, survey

KERNEL = 'extern "C" __global__ void {}({}* p) {{ p[0] = 1; }}\n'


def clashing(root: Path, text: str, *flags: str) -> list[tuple[str, int]]:
    """Each flag that is overridden, with the line of the `#define`."""
    listed = ", ".join(f'"{flag}"' for flag in flags)
    files: dict[str, str | bytes] = {
        "gb10/common/base.cu": "",
        "gb10/m/fp8/k.cu": text,
        "gb10/m/fp8/KERNEL.toml": f"[build]\nextra_nvcc_flags = [{listed}]\n",
    }
    write_files(root, files)
    (tree,) = read_trees(root, {posixpath.dirname(path) for path in files})
    (leaf,) = (t for t in tree.targets if t.leaf)
    sources = {path: SourceFile(path, str(files[path]).encode()) for path in leaf.sources.values()}
    models = {path: read_model(path, source.data) for path, source in sources.items()}
    found = macro_clashes(leaf, models, sources)
    return [(c.flag.value[0], text.count("\n", 0, c.macro.span.start) + 1) for c in found]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("#define X 2\n", [1]),
        ("#define X 2\n#define X 3\n", [1]),
        ("#define X 1\n", []),
        ("#define X  1 \n#define X 3\n", [2]),
        ("#define X(a) 1\n", [1]),
        ("#define Y 2\n", []),
        ("#if 0\n#define X 2\n#endif\n", []),
        ("#ifndef X\n#define X 2\n#endif\n", []),
        ("#if !defined(X)\n#define X 2\n#endif\n", []),
        ("#ifdef X\n#else\n#define X 2\n#endif\n", []),
        ("#ifdef Y\n#else\n#define X 2\n#endif\n", [3]),
        ("#ifdef Y\n#define X 2\n#endif\n", [2]),
        ("#ifndef X\n#endif\n#define X 2\n", [3]),
        ("#undef X\n#define X 2\n", []),
        ("#define X 2\n#undef X\n", [1]),
        ("#undef XY\n#define X 2\n", [2]),
    ],
)
def test_a_define_that_takes_a_flag_s_effect_away(
    tmp_path: Path, text: str, lines: list[int]
) -> None:
    """Unless a guard or an `#undef` shows that it is meant."""
    for flag in ("-DX=1", "-DX"):
        assert clashing(tmp_path, text, "-DZ=1", flag) == [(flag, line) for line in lines]


def shadowed(
    root: Path, upper: str, lower: str, manifest: str = "", name: str = "k.cu", left_out: str = ""
) -> tuple[Drift | None, SurveyedShadow]:
    files: dict[str, str | bytes] = {
        f"gb10/common/{name}": lower,
        f"gb10/m/fp8/{name}": upper,
        "gb10/m/fp8/KERNEL.toml": manifest,
    }
    write_files(root, files)
    (tree,) = read_trees(root, {posixpath.dirname(path) for path in files})
    (shadow,) = shadows(tree)
    sources = {
        path: SourceFile(
            path, str(files[path]).encode(), "unreadable" if path == left_out else None
        )
        for path in (shadow.upper, shadow.lower)
    }
    models = {p: read_model(p, s.data) for p, s in sources.items() if not s.problem}
    ((surveyed,),) = (one.shadows for one in survey([tree], models, sources))
    return drift(shadow, models, sources), surveyed


def test_what_the_host_would_miss(tmp_path: Path) -> None:
    manifest = "[shadow.exempt]\nk = ['old']\n"
    lower = "".join(KERNEL.format(name, "float") for name in ("a", "b", "c", "old"))
    upper = KERNEL.format("a", "int") + KERNEL.format("b", "float")
    found, surveyed = shadowed(tmp_path, upper, lower, manifest)
    assert found is not None
    assert found.lower == {"a", "b", "c", "old"}
    lacking = {*found.missing, *found.dropped}
    assert lacking == {"c", "old"}
    ((mine, theirs),) = found.changed
    assert (mine.types, mine.span.path) == (("int *",), "gb10/m/fp8/k.cu")
    assert (theirs.types, theirs.span.path) == (("float *",), "gb10/common/k.cu")
    assert (surveyed.lost, surveyed.retyped, surveyed.gained) == (("c", "old"), ("a",), ())


LOST = '#include "lost.cuh"\n'


@pytest.mark.parametrize(
    ("upper", "lower", "speaks", "complete"),
    [
        (KERNEL.format("a", "float"), KERNEL.format("a", "float"), False, True),
        (KERNEL.format("a", "int"), KERNEL.format("a", "float"), True, True),
        (LOST + KERNEL.format("a", "int"), KERNEL.format("a", "float"), True, False),
        ("", KERNEL.format("a", "float"), True, True),
        (LOST, KERNEL.format("a", "float"), False, False),
        ("", LOST + KERNEL.format("a", "float"), True, False),
    ],
)
def test_what_is_missing_may_be_in_what_was_not_found(
    tmp_path: Path, upper: str, lower: str, speaks: bool, complete: bool
) -> None:
    found, surveyed = shadowed(tmp_path, upper, lower)
    assert found is not None
    assert (found.speaks, surveyed.complete) == (speaks, complete)


@pytest.mark.parametrize("left_out", ["gb10/m/fp8/k.cu", "gb10/common/k.cu"])
def test_one_of_two_files_is_no_comparison(tmp_path: Path, left_out: str) -> None:
    found, surveyed = shadowed(tmp_path, "", "", left_out=left_out)
    assert found is None
    assert (surveyed.added, surveyed.removed, surveyed.complete) == (None, None, False)


def test_a_shadow_that_includes_what_it_replaces(tmp_path: Path) -> None:
    for text, wraps in (
        ('#include "other.cuh"\n#include "../../common/k.cu"\n', True),
        ('#include "k.cu"\n', False),
        ("", False),
    ):
        assert shadowed(tmp_path, text, "")[1].wraps is wraps


def test_a_header_s_shadow_has_no_entry_points_to_miss(tmp_path: Path) -> None:
    _, surveyed = shadowed(tmp_path, LOST, "", name="t.cuh")
    assert (surveyed.complete, surveyed.added, surveyed.removed) == (True, 1, 0)


def test_lines_that_recur_are_not_counted_as_changed(tmp_path: Path) -> None:
    body = "step();\n" * 300
    _, surveyed = shadowed(tmp_path, "int a;\n" + body, body + "int b;\n", name="t.cuh")
    assert (surveyed.added, surveyed.removed) == (1, 1)
