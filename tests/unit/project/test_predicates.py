"""Conditions that hold only while someone debugs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cudalint.hostcode.predicates import debug_only

FLAGS = {
    "tr": "env().trace",
    "quiet": "!env().verbose",
    "twice": "tr",
    "loop": "loop",
    "kTrace": 'getenv("T") != nullptr',
    "trace_steps": "opts.flag()",
    "untraced": "!opts.trace",
    "last": "step == n",
}


@pytest.mark.parametrize(
    "condition",
    [
        "debug",
        "env().trace",
        "tr",
        "twice",
        "!quiet",
        "(debug)",
        "debug && n > 3",
        "n > 3 && (debug || dump_all)",
        "verbose > 1",
        'std::getenv("OP_TRACE")',
        "!!debug",
        "const bool on = profiling(); on && validate_all",
        "defined(DEBUG)",
        "!defined(NDEBUG)",
        "OP_DEBUG && X > 2",
        "debug != 0",
        "kTrace",
        "trace_steps && n > 3",
        "!untraced",
    ],
)
def test_debugging(condition: str) -> None:
    assert debug_only(condition, FLAGS)


@pytest.mark.parametrize(
    "condition",
    [
        "",
        "n < cap",
        "!debug",
        "!tr",
        "quiet",
        "a || debug",
        "!(debug || trace)",
        "verbose == 0",
        "debug == false",
        "defined(NDEBUG)",
        "loop",
        "bugs",
        "!kTrace",
        "untraced",
        "last",
        "last || trace_steps",
    ],
)
def test_not_debugging(condition: str) -> None:
    assert not debug_only(condition, FLAGS)


@pytest.mark.parametrize("condition", ["!debug", "!debug || a", "verbose == 0", "defined(NDEBUG)"])
def test_the_other_way_of_such_a_condition_is_debugging(condition: str) -> None:
    assert debug_only(condition, when=False)


terms = st.recursive(
    st.sampled_from(["debug", "n", "m > 2", "trace"]),
    lambda inner: st.one_of(
        inner.map(lambda text: f"!({text})"),
        st.tuples(inner, inner).map(lambda two: f"({two[0]}) && ({two[1]})"),
        st.tuples(inner, inner).map(lambda two: f"({two[0]}) || ({two[1]})"),
    ),
    max_leaves=6,
)


@given(terms, st.booleans())
def test_what_is_called_debugging_implies_a_debug_name(text: str, when: bool) -> None:
    """With every debug name false, the condition can't be `when`, whatever the others are."""
    if not debug_only(text, when=when):
        return
    for n in (False, True):
        for m in (0, 3):
            names = {"debug": False, "trace": False, "n": n, "m": m}
            python = text.replace("&&", " and ").replace("||", " or ").replace("!", " not ")
            assert bool(eval(python, {}, names)) is not when


@given(terms)
def test_negation_turns_the_answer_round(text: str) -> None:
    assert debug_only(f"!({text})", when=True) == debug_only(text, when=False)
