"""Files in batches of so many bytes: what is read side by side, and what goes to a process."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

File = tuple[str, bytes]
"""A path and the file's content."""


def batches(files: Iterable[File], size: int) -> Iterator[list[File]]:
    """`files` in order; a batch ends with the file that brings it to `size` bytes or more."""
    batch: list[File] = []
    held = 0
    for file in files:
        batch.append(file)
        held += len(file[1])
        if held >= size:
            yield batch
            batch, held = [], 0
    if batch:
        yield batch
