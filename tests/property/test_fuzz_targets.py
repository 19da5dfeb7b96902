"""A bounded run of what `make fuzz` runs without end: each target over damaged fixtures."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from targets import FIXTURES, TARGETS

SEEDS = {
    name: sorted(
        file.read_bytes()[:4096]
        for pattern in patterns
        for file in FIXTURES.glob(pattern)
        if file.is_file()
    )
    or [b""]
    for name, (_, patterns) in TARGETS.items()
}
FEW = {"source": 15, "manifest": 15, "messages": 10, "suppressions": 40}
"""Examples of the targets that run the whole linter."""


@pytest.mark.parametrize("name", TARGETS)
def test_damaged_fixtures(name: str) -> None:
    target, _ = TARGETS[name]

    @settings(max_examples=FEW.get(name, 60))
    @given(st.sampled_from(SEEDS[name]), st.data())
    def damaged(seed: bytes, data: st.DataObject) -> None:
        places = st.integers(0, len(seed))
        first, second = sorted((data.draw(places), data.draw(places)))
        middle = data.draw(st.sampled_from([b"", seed[:second], b"\0", b"\xff", b'"', b"{"]))
        with tempfile.TemporaryDirectory() as folder:
            target(
                Path(folder),
                seed[:first] + middle + data.draw(st.binary(max_size=8)) + seed[second:],
            )

    damaged()
