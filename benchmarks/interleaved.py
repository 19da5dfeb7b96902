"""What a run costs, told in bare parses of the same files that are made before and after it."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import tree_sitter_cuda
from tree_sitter import Language, Parser


class Cost(msgspec.Struct, frozen=True):
    """The least CPU seconds of a run and of the parse; `ratio` is the median of the rounds'."""

    run: float
    parse: float
    ratio: float


def cost(run: Callable[[], object], files: Sequence[Path], rounds: int) -> Cost:
    """Time `run` and the parse of `files` in turn.

    The machine's speed changes from second to second, so a run is held to the parses on
    both sides of it, and never to one of another round.
    """
    parser = Parser(Language(tree_sitter_cuda.language()))

    def parse() -> None:
        # Read here, so that what the process holds at most is the run's alone.
        for file in files:
            parser.parse(file.read_bytes())

    runs, parses, ratios = [], [], []
    for _ in range(rounds):
        before, took, after = (_seconds(work) for work in (parse, run, parse))
        gc.collect()
        runs.append(took)
        parses += [before, after]
        ratios.append(took * 2 / (before + after))
    return Cost(min(runs), min(parses), statistics.median(ratios))


def _seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start
