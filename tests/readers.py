"""Readers of models that tests put in the place of the real one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import pytest

from cudalint.batches import File
from cudalint.syntax.model import FileModel


def read_by(one: Callable[[str, bytes], FileModel], monkeypatch: pytest.MonkeyPatch) -> None:
    """Have files read by `one`; what it raises is the result of that file."""

    def read_models(files: Iterable[File]) -> Iterator[FileModel | Exception]:
        for path, data in files:
            try:
                yield one(path, data)
            except Exception as error:  # noqa: BLE001  (it is that one file's result)
                yield error

    monkeypatch.setattr("cudalint.syntax.read.read_models", read_models)
