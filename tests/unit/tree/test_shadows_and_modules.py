"""What replaces what, and which module names stand in each other's way."""

from __future__ import annotations

import posixpath
from pathlib import Path

import pytest

from conftest import write_files
from cudalint.tree.model import KernelTree
from cudalint.tree.modules import clashes, lost_names, namings
from cudalint.tree.read import read_trees
from cudalint.tree.shadows import lacks_parent, layers, shadows

HOPPER = '[hardware]\narch = "sm_90a"\ninherits = "gb10"\n'


def tree_of(root: Path, files: dict[str, str | bytes]) -> KernelTree:
    write_files(root, files)
    (tree,) = read_trees(root, {posixpath.dirname(path) for path in files})
    return tree


def pairs(tree: KernelTree) -> list[tuple[str, str, bool]]:
    return [(shadow.upper, shadow.lower, shadow.declared) for shadow in shadows(tree)]


def test_each_file_replaces_the_next_one_below(tmp_path: Path) -> None:
    tree = tree_of(
        tmp_path,
        {
            "gb10/common/a.cu": "",
            "gb10/common/t.cuh": "",
            "gb10/m/fp8/a.cu": "",
            "gb10/m/fp8/t.cuh": "",
            "gb10/m/fp8/t.cu": "",
            "gb10/m/fp8/KERNEL.toml": '[shadow]\na = "x"\nt = "no header\'s key"\n',
            "hopper/HARDWARE.toml": HOPPER,
            "hopper/common/a.cu": "",
            "hopper/m/fp8/a.cu": "",
        },
    )
    assert pairs(tree) == [
        ("gb10/m/fp8/a.cu", "gb10/common/a.cu", True),
        ("gb10/m/fp8/a.cu", "hopper/common/a.cu", True),
        ("gb10/m/fp8/t.cuh", "gb10/common/t.cuh", False),
        ("hopper/common/a.cu", "gb10/common/a.cu", False),
        ("hopper/m/fp8/a.cu", "gb10/m/fp8/a.cu", False),
    ]


@pytest.mark.parametrize(
    ("manifest", "declared"),
    [
        ('[shadow]\na = ""\n', True),
        ("[shadow]\na = 3\n", True),
        ("[shadow\n", True),
        ('[shadows]\na = "x"\n', True),
        ('[shadow]\nb = "x"\n', False),
        ("", False),
    ],
)
def test_a_row_with_a_fault_is_no_missing_row(
    tmp_path: Path, manifest: str, declared: bool
) -> None:
    files: dict[str, str | bytes] = {"gb10/common/a.cu": "", "gb10/m/fp8/a.cu": ""}
    tree = tree_of(tmp_path, {**files, "gb10/m/fp8/KERNEL.toml": manifest})
    assert pairs(tree) == [("gb10/m/fp8/a.cu", "gb10/common/a.cu", declared)]


def test_a_parent_that_is_not_here(tmp_path: Path) -> None:
    tree = tree_of(
        tmp_path,
        {
            "hopper/HARDWARE.toml": HOPPER,
            "hopper/common/a.cu": "",
            "b200/HARDWARE.toml": HOPPER.replace("gb10", "hopper"),
            "b200/common/a.cu": "",
        },
    )
    assert {layer.path: lacks_parent(tree, layer) for layer in layers(tree)} == {
        "b200/common": False,
        "hopper/common": True,
    }


def clashing(
    root: Path, manifests: dict[str, str], stems: tuple[str, ...]
) -> list[tuple[str, ...]]:
    files: dict[str, str | bytes] = {f"gb10/common/{stem}.cu": "" for stem in stems}
    tree = tree_of(root, {**files, "gb10/m/fp8/x.cu": "", **manifests})
    (target,) = (t for t in tree.targets if t.leaf)
    return [(later.stem, earlier.stem) for later, earlier in clashes(target)]


@pytest.mark.parametrize(
    ("manifests", "stems", "expected"),
    [
        ({}, ("a", "b"), []),
        ({}, ("a-b", "a_b"), [("a_b", "a-b")]),
        ({"gb10/m/fp8/KERNEL.toml": "[modules]\na = 'n'\nb = 'n'\n"}, ("a", "b"), [("b", "a")]),
        ({"gb10/m/fp8/KERNEL.toml": "[modules]\nb = 'n'\na = 'N'\n"}, ("a", "b"), [("a", "b")]),
        ({"gb10/m/fp8/KERNEL.toml": "[modules]\na = 'b'\n"}, ("a", "b"), [("a", "b")]),
        ({"gb10/m/fp8/KERNEL.toml": "[modules]\na = 'b'\nb = 'a'\n"}, ("a", "b"), []),
        ({"gb10/common/KERNEL.toml": "[modules]\na = 'x'\n"}, ("a",), [("x", "a")]),
        (
            {
                "gb10/common/KERNEL.toml": "[modules]\nb = 'n'\n",
                "gb10/m/fp8/KERNEL.toml": "[modules]\na = 'n'\n",
            },
            ("a", "b"),
            [("a", "b")],
        ),
        (
            {"gb10/m/fp8/KERNEL.toml": "[modules]\na = 'n'\nb = 'n'\nc = 'n'\n"},
            ("a", "b", "c"),
            [("b", "a"), ("c", "a")],
        ),
    ],
)
def test_clashes(
    tmp_path: Path,
    manifests: dict[str, str],
    stems: tuple[str, ...],
    expected: list[tuple[str, ...]],
) -> None:
    assert clashing(tmp_path, manifests, stems) == expected


@pytest.mark.parametrize(
    ("common", "leaf", "lost"),
    [
        ("a = 'n'", "a = 'm'", ["n"]),
        ("a = 'n'", "a = 'n'", []),
        ("a = 'n'", "a = 'm'\nb = 'n'", []),
        ("b = 'n'", "a = 'm'", []),
        ("", "a = 'm'", []),
    ],
)
def test_lost_names(tmp_path: Path, common: str, leaf: str, lost: list[str]) -> None:
    tree = tree_of(
        tmp_path,
        {
            "gb10/common/a.cu": "",
            "gb10/common/b.cu": "",
            "gb10/common/KERNEL.toml": f"[modules]\n{common}\n",
            "gb10/m/fp8/KERNEL.toml": f"[modules]\n{leaf}\n",
        },
    )
    (target,) = (t for t in tree.targets if t.leaf)
    assert [lower.value for _, lower in lost_names(target)] == lost


def test_a_name_lost_in_the_middle(tmp_path: Path) -> None:
    """Each lower row whose name is gone, but never the row in force itself."""
    tree = tree_of(
        tmp_path,
        {
            "gb10/common/a.cu": "",
            "gb10/common/KERNEL.toml": "[modules]\na = 'low'\n",
            "hopper/HARDWARE.toml": HOPPER,
            "hopper/common/KERNEL.toml": "[modules]\na = 'middle'\n",
            "hopper/m/fp8/KERNEL.toml": "[modules]\na = 'high'\n",
        },
    )
    (leaf,) = (t for t in tree.targets if t.leaf)
    assert leaf.modules["a"] == "high"
    assert [(upper.value, lower.value) for upper, lower in lost_names(leaf)] == [
        ("high", "middle"),
        ("high", "low"),
    ]
    (naming,) = namings(leaf)
    assert naming.row is not None
    assert (naming.row.value, naming.place.path) == ("high", "hopper/m/fp8/KERNEL.toml")


def test_of_a_layer_rows_come_after_files(tmp_path: Path) -> None:
    """A row in the place of the first byte, too: the file that it names came first."""
    manifest = "modules = {z = 'a'}\n"
    found = clashing(tmp_path, {"gb10/common/KERNEL.toml": manifest}, ("a", "z"))
    assert found == [("z", "a")]
