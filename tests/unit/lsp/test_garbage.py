"""Cycles are freed between runs, and those that were set aside in a long while."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest

from cudalint.lsp import garbage


class Cycle:
    """Something that only a collection frees."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture(autouse=True)
def collecting_is_ours() -> Iterator[None]:
    gc.disable()
    yield
    gc.unfreeze()
    gc.enable()


def test_what_a_run_leaves_is_freed_and_what_stays_is_set_aside() -> None:
    left = weakref.ref(Cycle())
    assert left() is not None
    garbage.Garbage().collect(at_rest=True)
    assert left() is None
    assert gc.get_freeze_count() > 0


def test_what_another_run_holds_is_not_set_aside() -> None:
    left = weakref.ref(Cycle())
    garbage.Garbage().collect(at_rest=False)
    assert left() is None
    assert gc.get_freeze_count() == 0


def test_all_there_is_is_looked_at_in_a_long_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(garbage, "_WHOLE", 3)
    collector = garbage.Garbage()
    cycle = Cycle()
    collector.collect(at_rest=True)
    left = weakref.ref(cycle)
    del cycle
    collector.collect(at_rest=True)
    assert left() is not None
    collector.collect(at_rest=True)
    assert left() is None
