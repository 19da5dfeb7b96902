"""What shape code has: how long functions are, what they call, how deep they nest.

    python benchmarks/shape.py [FOLDER …]        (default: the shipped tree and a generated one)

Prints the figures of each folder side by side, and those of the last one divided by
those of the first.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from cudalint.reading import read_project
from cudalint.runner import Request
from cudalint.syntax.model import FileModel, Function
from generator import SHIPPED, make_tree

GENERATED_LINES = 20_000


def shape(folder: Path) -> dict[str, float]:
    """The figures of all CUDA and C++ files below `folder`, by what they are."""
    reading, _ = read_project(Request((".",), folder, isolated=True))
    models = list(reading.models.values())
    texts = {path: source.data for path, source in reading.sources.items()}
    functions = [(model, one) for model in models for one in model.functions if _has_body(one)]
    lines = sum(texts[model.path].count(b"\n") for model in models)
    parameters = [len(one.parameters) for _, one in functions]
    calls = sum(call.use is None for model in models for call in model.calls)
    branches = sum(len(model.branches) for model in models)
    depths = [_depth(model, one) for model, one in functions]
    lengths = sorted(_lines(texts[model.path], one) for model, one in functions)
    count = len(functions)
    return {
        "lines a file": lines / len(models),
        "bytes a line": sum(model.size for model in models) / lines,
        "comments a line": sum(len(model.comments) for model in models) / lines,
        "lines a function": sum(lengths) / count,
        "lines of the median function": lengths[count // 2],
        "calls a function": calls / count,
        "parameters a function": sum(parameters) / count,
        "branches a function": branches / count,
        "nesting": sum(depths) / count,
        "deepest nesting": max(depths),
    }


def _has_body(function: Function) -> bool:
    plain = not function.via_macro and not function.lambda_
    return function.kind == "definition" and function.body is not None and plain


def _lines(text: bytes, function: Function) -> int:
    assert function.body is not None
    return text.count(b"\n", function.head.start, function.body.end) + 1


def _depth(model: FileModel, function: Function) -> int:
    """How many branches and loops the innermost one of a function lies in, itself included."""
    assert function.body is not None
    body = function.body
    spans = [b.span for b in model.branches if body.covers(b.span.start)]
    return max(
        (sum(o.start <= s.start and s.end <= o.end for o in spans) for s in spans), default=0
    )


def main() -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folders", type=Path, nargs="*")
    folders: list[Path] = parser.parse_args().folders
    with tempfile.TemporaryDirectory() as name:
        if not folders:
            folders = [SHIPPED, Path(name) / "generated"]
            make_tree(folders[-1], GENERATED_LINES)
        columns = [shape(folder.resolve()) for folder in folders]
    for figure, first in columns[0].items():
        values = "".join(f"{column[figure]:10.2f}" for column in columns)
        print(f"{figure:<30}{values}{columns[-1][figure] / first:10.2f}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
