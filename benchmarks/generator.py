"""Trees of any size that are shaped like real kernels and the engine code around them.

    python benchmarks/generator.py FOLDER [LINES]

A tree is the shipped kernel tree, then, layer by layer until there are enough
lines, kernels of it with entry points of other names and engine code that
launches kernels: classes with the same few method names, which call one another
through headers, a model over them, and its serving loop. So many layers make one
engine, with base classes and checks of its own: a million lines of code are no
single class with thousands of overrides. `benchmarks/shape.py` says how the
statistics of such a tree lie to those of the shipped one. Deterministic.
"""

from __future__ import annotations

import argparse
import re
import shutil
from collections.abc import Iterator
from itertools import count
from pathlib import Path

SHIPPED = Path(__file__).parents[1] / "kernels"
ENGINE = Path(__file__).parent / "engine"
COMMON = Path("gb10") / "common"
KERNELS_A_LAYER = 4

LAYERS_AN_ENGINE = 32
CORE_FILES = ("check.h", "runtime.h", "workspace.h")
ENGINE_NAMES = ("engine", "Layer", "Runtime", "Tensor", "Workspace")
LAYER_FILES = {
    "layer.h": "layers/layer_@.h",
    "layer.cu": "layers/layer_@.cu",
    "model.cpp": "models/model_@.cpp",
}


def make_tree(folder: Path, wanted: int, *, engine: bool = True) -> int:
    """Write a tree of `wanted` lines, or up to a file more; how many lines of CUDA and C++.

    Kernels alone without `engine`.
    """
    shutil.copytree(SHIPPED, folder / "kernels")
    lines = sum(file.read_bytes().count(b"\n") for file in sources(folder))
    for path, text in _written(engine=engine):
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


def _written(*, engine: bool) -> Iterator[tuple[str, str]]:
    """Path and text of one file after the other, without end."""
    kernels = sorted((SHIPPED / COMMON).glob("*.cu"))
    texts = {kernel.stem: kernel.read_text() for kernel in kernels}
    stems = list(texts)
    for layer in count():
        number, around = f"{layer:05}", f"{layer // LAYERS_AN_ENGINE:03}"
        if engine:
            yield from _layer(number, around, first=layer % LAYERS_AN_ENGINE == 0)
        for taken in range(layer * KERNELS_A_LAYER, (layer + 1) * KERNELS_A_LAYER):
            stem = stems[taken % len(stems)]
            yield f"kernels/{COMMON}/{stem}_{number}.cu", _renamed(texts[stem], stem, number)


def _layer(number: str, engine: str, *, first: bool) -> Iterator[tuple[str, str]]:
    """The files of one layer, those that its engine has once before them."""
    names = {f"core/{name}": f"core/{name}" for name in CORE_FILES} if first else {}
    for name, path in (names | LAYER_FILES).items():
        text = (ENGINE / name).read_text().replace("@", number)
        text = re.sub(rf"\b({'|'.join(ENGINE_NAMES)})\b", rf"\1_{engine}", text)
        yield f"engine_{engine}/{path.replace('@', number)}", text


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
