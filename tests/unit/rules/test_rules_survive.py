"""No rule fails on half a file, or on one with pieces missing or doubled."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from cudalint.registry import all_rules
from cudalint.rule import FileRule, ProjectRule
from cudalint.testing.annotated import read_annotated
from projects import context_of

RULES = [rule for rule in all_rules() if issubclass(rule, (FileRule, ProjectRule))]
SOURCES = sorted(
    {
        read_annotated("a.cu", example.code)[0].decode("utf-8", "surrogateescape")
        for rule in RULES
        for example in (*rule.INVALID, *rule.VALID)
        if "\x00" not in example.code
    }
)


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(SOURCES), st.data())
def test_mutilated_examples(source: str, data: st.DataObject) -> None:
    places = st.integers(0, len(source))
    first, second, third = sorted(data.draw(st.tuples(places, places, places)))
    joined = data.draw(
        st.sampled_from(
            [
                source[:first],
                source[first:],
                source[:first] + source[second:],
                source[:second] + source[first:],
                source[:first] + source[second:third] + source[first:second] + source[third:],
            ]
        )
    )
    context = context_of({"a.cu": joined, "b.cuh": source[first:second]})
    for rule in RULES:
        judge = rule()
        if isinstance(judge, ProjectRule):
            found = list(judge.check(context.project, context, rule.options()))
        elif isinstance(judge, FileRule) and not rule.unreadable:
            found = [
                finding
                for model in context.models.values()
                for finding in judge.check(model, context, rule.options())
            ]
        else:
            found = []
        for finding in found:
            size = len(context.sources[finding.span.path].data)
            assert 0 <= finding.span.start <= finding.span.end <= size
            assert finding.code == rule.code
