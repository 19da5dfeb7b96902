"""Changed lines, and what touches them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cudalint.adoption.hunks import ChangedLines, changed_runs

OLD = b"a\nb\nc\nd\n"


def test_runs_of_changed_lines() -> None:
    assert changed_runs(OLD, OLD) == []
    assert changed_runs(OLD, b"a\nx\ny\nd\n") == [(2, 4)]
    assert changed_runs(OLD, b"x\na\nb\nc\nd\ny") == [(1, 2), (6, 7)]
    assert changed_runs(OLD, b"a\nd\n") == [(2, 2)]
    assert changed_runs(b"a\n\n \nb\n", b"a\nb\n") == []
    assert changed_runs(OLD, OLD.replace(b"\n", b"\r\n")) == []
    assert changed_runs(b"", b"x\n") == [(1, 2)]


def test_a_file_of_many_lines_is_one_run() -> None:
    old, new = b"a\n" * 30_000, b"x\n" + b"b\n" * 30_000 + b"a\n"
    assert changed_runs(old, new) == [(1, 30_002)]


def test_what_touches_a_change() -> None:
    lines = ChangedLines(OLD, b"a\nx\nc\nd\n")
    assert [lines.touched(at, at + 1) for at in (0, 2, 4, 6)] == [False, True, False, False]
    assert lines.touched(0, 6)
    gone = ChangedLines(OLD, b"a\nd\n")
    assert gone.touched(0, 1)
    assert gone.touched(2, 3)
    assert not ChangedLines(OLD, b"a\nb\nd\n").touched(0, 1)
    new = ChangedLines(None, OLD)
    assert all(new.touched(at, at) for at in range(len(OLD) + 1))


lines = st.lists(st.sampled_from([b"a", b"b", b"c", b"}", b" "]), max_size=20).map(b"\n".join)


@given(lines, lines)
def test_lines_outside_the_runs_are_the_old_ones_in_order(old: bytes, new: bytes) -> None:
    changed = {line for low, high in changed_runs(old, new) for line in range(low, high)}
    kept = [text for at, text in enumerate(new.split(b"\n"), 1) if at not in changed]
    left = iter(old.split(b"\n"))
    assert all(any(text == other for other in left) for text in kept)
