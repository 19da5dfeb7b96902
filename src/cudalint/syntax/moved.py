"""Raw records of text that has moved: each offset by as much as the text before it grew."""

from __future__ import annotations

from msgspec.structs import replace

from cudalint.finding import Span
from cudalint.syntax.heads import Head
from cudalint.syntax.model import Parameter
from cudalint.syntax.raw import (
    Range,
    RawAlias,
    RawBranch,
    RawCall,
    RawConstant,
    RawFunction,
    RawScope,
    RawShared,
)


def moved_range(place: Range, by: int) -> Range:
    """The range, `by` bytes further."""
    return place[0] + by, place[1] + by


def moved_function(function: RawFunction, by: int) -> RawFunction:
    """The function, `by` bytes further."""
    return replace(
        function,
        span=moved_range(function.span, by),
        head=moved_range(function.head, by),
        name_range=moved_range(function.name_range, by),
        body=None if function.body is None else moved_range(function.body, by),
        read=_head(function.read, by),
        parameters=_parameters(function.parameters, by),
    )


def moved_call(call: RawCall, by: int) -> RawCall:
    """The call, `by` bytes further; the one record of which there are many."""
    (start, end), (low, high) = call.span, call.statement
    configuration = call.configuration
    return RawCall(
        (start + by, end + by),
        call.open_at + by,
        (low + by, high + by),
        call.whole,
        None if configuration is None else moved_range(configuration, by),
        call.written,
    )


def moved_shared(shared: RawShared, by: int) -> RawShared:
    """The declarator, `by` bytes further."""
    return replace(
        shared,
        span=moved_range(shared.span, by),
        statement=moved_range(shared.statement, by),
        name_range=moved_range(shared.name_range, by),
    )


def moved_branch(branch: RawBranch, by: int) -> RawBranch:
    """The controlled statement, `by` bytes further."""
    span, head = moved_range(branch.span, by), moved_range(branch.head, by)
    return RawBranch(span, head, branch.keyword, branch.condition, branch.exits)


def moved_scope(scope: RawScope, by: int) -> RawScope:
    """The scope, `by` bytes further."""
    return replace(
        scope,
        span=moved_range(scope.span, by),
        body=moved_range(scope.body, by),
        members=_parameters(scope.members, by),
    )


def moved_alias(alias: RawAlias, by: int) -> RawAlias:
    """The alias, `by` bytes further."""
    span, name_range = moved_range(alias.span, by), moved_range(alias.name_range, by)
    return replace(alias, span=span, name_range=name_range)


def moved_constant(constant: RawConstant, by: int) -> RawConstant:
    """The enumerator, `by` bytes further."""
    return replace(constant, span=moved_range(constant.span, by))


def _head(head: Head, by: int) -> Head:
    bounds = head.bounds
    if bounds is not None:
        bounds = replace(bounds, span=_span(bounds.span, by))
    return replace(head, start=head.start + by, bounds=bounds)


def _parameters(parameters: tuple[Parameter, ...], by: int) -> tuple[Parameter, ...]:
    return tuple(Parameter(_span(p.span, by), p.type, p.name, p.default) for p in parameters)


def _span(span: Span, by: int) -> Span:
    return Span(span.path, span.start + by, span.end + by)
