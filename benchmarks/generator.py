"""Trees of any size that are shaped like real kernels and the engine code around them.

    python benchmarks/generator.py FOLDER [LINES]

A tree is the shipped kernel tree, then, layer by layer until there are enough
lines, kernels of it with entry points of other names and engine code that
launches kernels: classes with the same few method names, which call one another
through headers, a model over them, and its serving loop. `benchmarks/shape.py`
says how its statistics lie to those of the shipped tree. Deterministic.
"""

from __future__ import annotations

import argparse
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

SHIPPED = Path(__file__).parents[1] / "kernels"
ENGINE = Path(__file__).parent / "engine"
COMMON = Path("gb10") / "common"
KERNELS_A_LAYER = 4

LAYER_FILES = {
    "layer.h": "engine/layers/layer_@.h",
    "layer.cu": "engine/layers/layer_@.cu",
    "model.cpp": "engine/models/model_@.cpp",
}


def make_tree(folder: Path, wanted: int) -> int:
    """Write a tree of `wanted` lines, or up to a layer more; how many lines of CUDA and C++."""
    shutil.copytree(SHIPPED, folder / "kernels")
    shutil.copytree(ENGINE / "core", folder / "engine" / "core")
    lines = sum(file.read_bytes().count(b"\n") for file in sources(folder))
    for path, text in _layers():
        if lines >= wanted:
            break
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        lines += text.count("\n")
    return lines


def sources(folder: Path) -> list[Path]:
    """The files below `folder` that cudalint lints."""
    suffixes = {".cu", ".cuh", ".cpp", ".cc", ".h", ".hpp"}
    return sorted(file for file in folder.rglob("*") if file.suffix in suffixes)


def _layers() -> Iterator[tuple[str, str]]:
    """Path and text of one file after the other, without end."""
    parts = {name: (ENGINE / name).read_text() for name in LAYER_FILES}
    kernels = sorted((SHIPPED / COMMON).glob("*.cu"))
    texts = {kernel.stem: kernel.read_text() for kernel in kernels}
    stems = list(texts)
    number = taken = 0
    while True:
        name = f"{number:05}"
        for part, path in LAYER_FILES.items():
            yield path.replace("@", name), parts[part].replace("@", name)
        for _ in range(KERNELS_A_LAYER):
            stem = stems[taken % len(stems)]
            yield f"kernels/{COMMON}/{stem}_{name}.cu", _renamed(texts[stem], stem, name)
            taken += 1
        number += 1


def _renamed(text: str, stem: str, name: str) -> str:
    """A kernel file whose entry points, which begin with the file's name, are other ones."""
    return re.sub(rf"\b{stem}(?=\w*\()", f"{stem}_{name}", text)


def main() -> int:
    """Write one tree."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, help="a folder that does not exist yet")
    parser.add_argument("lines", type=int, nargs="?", default=10_000)
    arguments = parser.parse_args()
    print(f"{make_tree(arguments.folder, arguments.lines)} lines in {arguments.folder}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
