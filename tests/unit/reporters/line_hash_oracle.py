"""GitHub's line hash by a literal reading of its algorithm, the oracle of the tests.

A ring of 100 units, one update for each unit of the file.
"""

from __future__ import annotations

BLOCK, MOD, EOF_UNIT = 100, 37, 65535
MASK = (1 << 64) - 1


def oracle(data: bytes) -> dict[int, str]:
    """Every line's value, by the ring."""
    window = [0] * BLOCK
    lines = [-1] * BLOCK
    first = pow(MOD, BLOCK, 1 << 64)
    state = {"hash": 0, "index": 0, "line": 0, "start": True, "cr": False}
    counts: dict[str, int] = {}
    found: dict[int, str] = {}

    def emit() -> None:
        value = format(state["hash"], "x")
        counts[value] = counts.get(value, 0) + 1
        found[lines[state["index"]]] = f"{value}:{counts[value]}"
        lines[state["index"]] = -1

    def update(unit: int) -> None:
        begin = window[state["index"]]
        window[state["index"]] = unit
        state["hash"] = (MOD * state["hash"] + unit - first * begin) & MASK
        state["index"] = (state["index"] + 1) % BLOCK

    def process(unit: int) -> None:
        if unit in (0x20, 0x09) or (state["cr"] and unit == 0x0A):
            state["cr"] = False
            return
        state["cr"] = unit == 0x0D
        if unit == 0x0D:
            unit = 0x0A
        if lines[state["index"]] != -1:
            emit()
        if state["start"]:
            state["start"] = False
            state["line"] += 1
            lines[state["index"]] = state["line"]
        if unit == 0x0A:
            state["start"] = True
        update(unit)

    units = data.decode("utf-8", "replace").encode("utf-16-le", "surrogatepass")
    for at in range(0, len(units), 2):
        process(int.from_bytes(units[at : at + 2], "little"))
    process(EOF_UNIT)
    for _ in range(BLOCK):
        if lines[state["index"]] != -1:
            emit()
        update(0)
    return found
