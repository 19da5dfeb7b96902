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


def test_what_a_run_leaves_is_freed() -> None:
    left = weakref.ref(Cycle())
    collector = garbage.Garbage()
    collector.collect(at_rest=True)
    assert left() is not None
    collector.left_by_a_run()
    collector.collect(at_rest=True)
    assert left() is None
    assert gc.get_freeze_count() > 0


def test_beside_a_run_it_waits_until_it_is_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(garbage, "_MOST", 2)
    left = weakref.ref(Cycle())
    collector = garbage.Garbage()
    collector.left_by_a_run()
    collector.collect(at_rest=False)
    assert left() is not None
    collector.left_by_a_run()
    collector.collect(at_rest=False)
    assert left() is None
    assert gc.get_freeze_count() == 0


def test_what_stays_is_set_aside_and_looked_at_in_a_long_while(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(garbage, "_WHOLE", 3)
    collector = garbage.Garbage()

    def run() -> None:
        collector.left_by_a_run()
        collector.collect(at_rest=True)

    cycle = Cycle()
    run()
    left = weakref.ref(cycle)
    del cycle
    run()
    assert left() is not None
    run()
    assert left() is None
