"""Times calls on a GPU stream: L2 flushed before each, CUDA events around each, medians."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median

from gpu.driver import Tensor, torch

WARMUPS = 5
ROUNDS = 25
# Many times the L2 of any GPU so far: reading it takes long enough for the host to enqueue the next
# call meanwhile, so that a reference with a slow host side is not charged for it.
FLUSH_BYTES = 1 << 30


class Timer:
    """Holds the stream to time on and the buffer that displaces the L2's contents."""

    def __init__(self, stream: object) -> None:
        self._stream = stream
        self._flush: Tensor = torch.zeros(FLUSH_BYTES // 4, dtype=torch.int32, device="cuda")
        self._sink: Tensor = torch.empty((), dtype=torch.int32, device="cuda")

    def _flush_l2(self) -> None:
        """Reads a buffer larger than the L2, so that what stays there is clean and not ours."""
        torch.amax(self._flush, dim=0, out=self._sink)

    def medians(self, calls: Sequence[Callable[[], object]]) -> list[float]:
        """The median time of each call in microseconds, taken in turns within each round."""
        times: list[list[float]] = [[] for _ in calls]
        # The case's tensors were filled on another stream.
        torch.cuda.synchronize()
        with torch.cuda.stream(self._stream):
            for call in calls:
                for _ in range(WARMUPS):
                    call()
            torch.cuda.synchronize()
            for _ in range(ROUNDS):
                marks = [self._timed(call) for call in calls]
                torch.cuda.synchronize()
                for series, (start, end) in zip(times, marks, strict=True):
                    series.append(start.elapsed_time(end) * 1e3)
        return [median(series) for series in times]

    def _timed(self, call: Callable[[], object]) -> tuple[Tensor, Tensor]:
        start = torch.cuda.Event(enable_timing=True)
        end = torch.cuda.Event(enable_timing=True)
        self._flush_l2()
        start.record(self._stream)
        call()
        end.record(self._stream)
        return start, end


def device_copy(bytes_moved: int) -> Callable[[], object]:
    """A copy that moves ``bytes_moved``, half of them read and half written."""
    source = torch.randint(256, (max(bytes_moved // 2, 1),), dtype=torch.uint8, device="cuda")
    target = torch.empty_like(source)

    def copy() -> object:
        return target.copy_(source)

    return copy
