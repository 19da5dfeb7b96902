"""Holds the model's kernels and launches to an independent count, on any tree.

    python benchmarks/corpus.py FOLDER…

Counts `__global__` and `<<<` with a tokenizer of its own (below; it shares no
code with cudalint) in every source file, and compares with the FileModel, by
place. Prints each miss with its line, the broken regions that matter, and a
table. Exits 1 when something was missed. The figures in docs/limits.md come
from here.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

from cudalint.syntax.read import read_model

SUFFIXES = {".cu", ".cuh", ".h", ".hpp", ".cpp", ".cc", ".cxx", ".inl"}


@dataclass
class Count:
    """What one tree holds, by the tokenizer and by the model."""

    files: int = 0
    kernels: int = 0
    model_kernels: int = 0
    launches: int = 0
    model_launches: int = 0
    broken_files: int = 0
    reported_files: int = 0
    misses: list[str] = field(default_factory=list)


def words(text: str) -> list[tuple[str, int]]:
    """Names and `<<<` outside comments and literals, with their offsets, char by char."""
    found: list[tuple[str, int]] = []
    at, size = 0, len(text)
    while at < size:
        char = text[at]
        if text.startswith("//", at):
            while True:
                end = text.find("\n", at)
                if end < 0:
                    return found
                at = end + 1
                if not text[:end].removesuffix("\r").endswith("\\"):
                    break
        elif text.startswith("/*", at):
            end = text.find("*/", at + 2)
            at = size if end < 0 else end + 2
        elif char == '"':
            at = _after_string(text, at, found)
        elif char == "'" and not (at and text[at - 1] in "0123456789abcdefABCDEF"):
            at = _after_quote(text, at)
        elif char.isalpha() or char == "_":
            end = at
            while end < size and (text[end].isalnum() or text[end] == "_"):
                end += 1
            found.append((text[at:end], at))
            at = end
        elif text.startswith("<<<", at):
            found.append(("<<<", at))
            at += 3
        else:
            at += 1
    return found


def _after_string(text: str, at: int, found: list[tuple[str, int]]) -> int:
    if found and found[-1][0] in ("R", "u8R", "LR", "uR", "UR") and text[at - 1] == "R":
        raw = re.match(r'"([^()\\\s]{0,16})\(', text[at : at + 20])
        if raw:
            end = text.find(f'){raw.group(1)}"', at)
            return len(text) if end < 0 else end + len(raw.group(1)) + 2
    return _after_quote(text, at)


def _after_quote(text: str, at: int) -> int:
    quote, at = text[at], at + 1
    while at < len(text) and text[at] not in (quote, "\n"):
        at += 2 if text[at] == "\\" else 1
    return at + 1


def dead_and_defined(text: str) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """The ranges of `#if 0` branches, and of macros without a body of code in braces.

    Those only make heads: their words are kernels where they are used.
    """
    dead: list[tuple[int, int]] = []
    defined: list[tuple[int, int]] = []
    stack: list[tuple[int, bool]] = []
    at = 0
    lines = text.split("\n")
    index = 0
    while index < len(lines):
        start, line = at, lines[index]
        at += len(line) + 1
        while lines[index].rstrip("\r").endswith("\\") and index + 1 < len(lines):
            index += 1
            at += len(lines[index]) + 1
        index += 1
        match = re.match(r"\s*#\s*(\w+)(.*)", line)
        if not match:
            continue
        whole = text[start:at]
        keyword, rest = match.group(1), re.sub(r"//.*|/\*.*", "", match.group(2)).strip()
        if keyword == "define" and "{" not in whole and "<<<" not in whole:
            defined.append((start, at))
        elif keyword in ("if", "ifdef", "ifndef"):
            stack.append((at, keyword == "if" and rest == "0"))
        elif keyword in ("else", "elif") and stack:
            since, was_dead = stack.pop()
            dead += [(since, start)] if was_dead else []
            stack.append((at, False))
        elif keyword == "endif" and stack:
            since, was_dead = stack.pop()
            dead += [(since, start)] if was_dead else []
    return dead, defined


def compare(path: Path, data: bytes, count: Count) -> None:
    """Add one file to `count`. Latin-1 keeps one character a byte, so offsets agree."""
    text = data.decode("latin-1")
    dead, defined = dead_and_defined(text)

    def counts(at: int) -> bool:
        return not any(start <= at < end for start, end in dead + defined)

    found = [(word, at) for word, at in words(text) if word in ("__global__", "<<<") and counts(at)]
    model = read_model(str(path), data)
    heads = [f.head for f in model.kernels if f.use is None]
    launches = [launch.span for launch in model.launches if launch.use is None]
    kernels = [at for word, at in found if word == "__global__"]
    count.files += 1
    count.kernels += len(kernels)
    count.launches += len(found) - len(kernels)
    count.model_kernels += len(heads)
    count.model_launches += len(launches)
    count.broken_files += bool(model.broken)
    count.reported_files += any(region.matters for region in model.broken)
    for word, at in found:
        spans = heads if word == "__global__" else launches
        if not any(span.covers(at) for span in spans):
            count.misses.append(
                f"{path}:{text.count(chr(10), 0, at) + 1}: {word} is not in the model"
            )


def main(folders: list[str]) -> int:
    """Compare every folder; 1 when something was missed."""
    rows = []
    missed = 0
    for folder in folders:
        count = Count()
        for path in sorted(Path(folder).rglob("*")):
            if path.suffix in SUFFIXES and path.is_file() and not path.is_symlink():
                compare(path, path.read_bytes(), count)
        print("\n".join(count.misses))
        missed += len(count.misses)
        rows.append(
            f"| {Path(folder).name} | {count.files} | {count.kernels} / {count.model_kernels} "
            f"| {count.launches} / {count.model_launches} | {len(count.misses)} "
            f"| {count.broken_files} | {count.reported_files} |"
        )
    print("| tree | files | kernels: tokens / model | launches: tokens / model | missed |", end="")
    print(" files with a broken region | with one that matters |\n|---|---|---|---|---|---|---|")
    print("\n".join(rows))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
