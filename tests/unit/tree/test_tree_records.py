"""What was read of a tree can't be changed: every rule gets the same."""

from __future__ import annotations

import posixpath
from pathlib import Path

import pytest

from conftest import write_files
from cudalint.source import SourceFile
from cudalint.syntax.read import read_model
from cudalint.tree.drift import drift
from cudalint.tree.entries import entry_points
from cudalint.tree.folders import Folders
from cudalint.tree.macroclash import macro_clashes
from cudalint.tree.modules import namings
from cudalint.tree.read import find_trees
from cudalint.tree.shadows import shadows
from cudalint.tree.survey import survey
from records import records


def test_what_was_read_can_not_be_changed(tmp_path: Path) -> None:
    """The tree, and what follows from it."""
    kernel = 'extern "C" __global__ void k({}* x) {{ }}\n'
    files: dict[str, str | bytes] = {
        "gb10/HARDWARE.toml": '[build]\nextra_nvcc_flags = ["-DX=1"]\n',
        "metal/HARDWARE.toml": "",
        "metal/common/a.cu": "",
        "gb10/common/a.cu": kernel.format("int"),
        "gb10/m/fp8/a.cu": "#define X 2\n" + kernel.format("float"),
        "gb10/m/fp8/KERNEL.toml": '[shadow]\na = "why"\n[modules]\na = "b"\n',
    }
    write_files(tmp_path, files)
    read = find_trees(tmp_path, {posixpath.dirname(path) for path in files})
    models = {p: read_model(p, str(text).encode()) for p, text in files.items() if ".cu" in p}
    sources = {path: SourceFile(path, str(files[path]).encode()) for path in models}
    (leaf,) = (t for t in read.cuda[0].targets if t.leaf)
    (shadow,) = shadows(read.cuda[0])
    derived = (
        *macro_clashes(leaf, models, sources),
        *namings(leaf),
        drift(shadow, models, sources),
        survey(read.cuda, models, sources),
        entry_points("gb10/m/fp8/a.cu", leaf, models, sources),
        Folders(tmp_path).list("gb10"),
    )
    found = list(records((read, derived)))
    kinds = {type(record).__name__ for record in found}
    assert kinds >= {
        *("Drift", "Entries", "Entry", "Hardware", "KernelTree", "Layer", "Listing", "MacroClash"),
        *("Manifest", "Naming", "OtherHardware", "Shadow", "SurveyedShadow", "SurveyedTree"),
        *("Target", "Trees", "Value"),
    }
    for record in found:
        with pytest.raises(AttributeError, match="immutable type"):
            setattr(record, record.__struct_fields__[0], None)
