"""`cudalint tree`: what is told of each shadow, in each format."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from conftest import write_files
from cudalint.cli.group import cli
from cudalint.reporters.tree.json import JsonShadow, JsonTrees

SPDX = "// SPDX-License-Identifier: MIT OR Apache-2.0\n"
KERNEL = 'extern "C" __global__ void {}({}* p) {{ p[0] = 1; }}\n'
FILES = {
    "k/hw/HARDWARE.toml": '[hardware]\narch = "sm_90"\n',
    "k/hw/common/norm.cu": SPDX + KERNEL.format("norm", "float") + KERNEL.format("old", "float"),
    "k/hw/common/rope.cu": SPDX + KERNEL.format("rope", "float"),
    "k/hw/common/tile.cuh": SPDX + "#define TILE 64\n",
    "k/hw/m/q/norm.cu": SPDX + KERNEL.format("norm", "int") + KERNEL.format("new", "float"),
    "k/hw/m/q/rope.cu": SPDX + '#define DIM 64\n#include "../../common/rope.cu"\n',
    "k/hw/m/q/tile.cuh": SPDX + "#define TILE 32\n",
    "k/hw/m/q/KERNEL.toml": '[shadow]\nnorm = "int | row"\nrope = "dim 64"\n',
}


def tree(root: Path, monkeypatch: pytest.MonkeyPatch, *options: str) -> str:
    write_files(root, dict(FILES))
    monkeypatch.chdir(root)
    done = CliRunner().invoke(cli, ["tree", "k", *options], standalone_mode=False)
    assert done.exception is None
    return done.output


def test_every_shadow_with_its_reason_lines_and_entry_points(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = msgspec.json.decode(tree(tmp_path, monkeypatch, "--format", "json"), type=JsonTrees)
    (found,) = document.trees
    assert (found.root, found.targets) == ("k", ["hw/common", "hw/m/q"])
    norm, rope, tile = found.shadows
    assert norm == JsonShadow(
        kind="source",
        file="k/hw/m/q/norm.cu",
        replaces="k/hw/common/norm.cu",
        layer="k/hw/m/q",
        target="hw/m/q",
        declared=True,
        reason="int | row",
        lines_added=2,
        lines_removed=2,
        includes_replaced=False,
        entry_points_gained=["new"],
        entry_points_lost=["old"],
        entry_points_retyped=["norm"],
        entry_points_complete=True,
    )
    assert (rope.includes_replaced, rope.entry_points_lost) == (True, [])
    assert (rope.lines_added, rope.lines_removed) == (2, 1)
    assert (tile.kind, tile.declared, tile.reason) == ("header", False, "")


def test_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert tree(tmp_path, monkeypatch) == (
        "k: 3 shadows in 2 targets\n"
        "\n"
        "  k/hw/m/q/norm.cu  replaces  k/hw/common/norm.cu\n"
        "    reason:       int | row\n"
        "    lines:        2 added, 2 removed\n"
        "    entry points: new gained; old lost; norm with other parameters\n"
        "\n"
        "  k/hw/m/q/rope.cu  replaces  k/hw/common/rope.cu\n"
        "    reason:       dim 64\n"
        "    lines:        2 added, 1 removed; includes what it replaces\n"
        "    entry points: the same\n"
        "\n"
        "  k/hw/m/q/tile.cuh  replaces  k/hw/common/tile.cuh\n"
        "    reason:       none: not declared (CU401)\n"
        "    lines:        1 added, 1 removed\n"
    )


def test_markdown_keeps_its_cells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = tree(tmp_path, monkeypatch, "--format", "markdown").splitlines()
    rows = [line for line in lines if line.startswith("|")]
    assert len(rows) == 5
    assert {row.count("|") for row in rows} == {6}
    assert "int &#124; row" in rows[2]


def test_a_folder_without_a_tree_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_files(tmp_path, {"a.cu": SPDX})
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(cli, ["tree"])
    assert done.exit_code == 2
    assert "no kernel tree in .: no folder has a <hw>/common/ below it" in done.output
