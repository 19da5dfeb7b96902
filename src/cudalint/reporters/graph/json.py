"""Answers for programs, as JSON. The structs here are the schema; docs/graph.md tells of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import msgspec

from cudalint.hostcode.explanation import ON_PATH, Verdict
from cudalint.reporters.visible import visible

if TYPE_CHECKING:
    from cudalint.finding import Span
    from cudalint.hostcode.chain import Chain, Hop, Named
    from cudalint.hostcode.explanation import Explanation
    from cudalint.reporters.shownplaces import ShownPlaces


class Place(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`path` is relative to the current folder; line and column count from 1, in characters."""

    path: str
    line: int
    column: int


class JsonHop(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A call or launch at `place`; `cut` is why it does not count, "" where it does.

    `certain` is false for a call that may mean another overload.
    `means`: "<<<>>>", an API function or "launch-functions"; "" for a call.
    """

    kind: Literal["call", "method", "launch"]
    caller: str
    callee: str
    place: Place
    means: str
    macro: str
    in_lambda: bool
    cut: str
    certain: bool


class Cold(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A cold function on the way, and why it is cold."""

    name: str
    why: str


class JsonChain(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """From `root` by `down` to a launch, and by `below` to the function."""

    root: str
    root_place: Place
    down: list[JsonHop]
    below: list[JsonHop]
    cold: list[Cold]


class JsonFunction(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One function of the name; `total_` counts what `--limit` left out too."""

    name: str
    place: Place
    on_launch_path: bool
    verdict: Verdict
    why: str
    chains: list[JsonChain]
    total_chains: int
    callers: list[JsonHop]
    total_callers: int


class JsonAnswer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole document."""

    asked: str
    functions: list[JsonFunction]


def json(asked: str, explanations: Sequence[Explanation], places: ShownPlaces) -> str:
    """The answers to `asked` as one document, indented by two spaces."""
    answer = JsonAnswer(visible(asked), [_function(e, places) for e in explanations])
    return msgspec.json.format(msgspec.json.encode(answer), indent=2).decode() + "\n"


def _function(explanation: Explanation, places: ShownPlaces) -> JsonFunction:
    return JsonFunction(
        name=visible(explanation.function.name),
        place=_place(explanation.function.span, places),
        on_launch_path=explanation.verdict in ON_PATH,
        verdict=explanation.verdict,
        why=visible(explanation.why),
        chains=[_chain(chain, places) for chain in explanation.chains],
        total_chains=explanation.total,
        callers=[_hop(hop, places) for hop in explanation.callers],
        total_callers=explanation.total_callers,
    )


def _chain(chain: Chain, places: ShownPlaces) -> JsonChain:
    return JsonChain(
        root=visible(chain.root.name),
        root_place=_place(chain.root.span, places),
        down=[_hop(hop, places) for hop in chain.down],
        below=[_hop(hop, places) for hop in chain.below],
        cold=[_cold(function, why) for function, why in chain.cold],
    )


def _cold(function: Named, why: str) -> Cold:
    return Cold(visible(function.name), visible(why))


def _hop(hop: Hop, places: ShownPlaces) -> JsonHop:
    return JsonHop(
        kind=hop.kind,
        caller=visible(hop.caller.name),
        callee=visible(hop.callee.name),
        place=_place(hop.span, places),
        means=hop.means,
        macro=hop.macro,
        in_lambda=hop.in_lambda,
        cut=visible(hop.cut),
        certain=hop.certain,
    )


def _place(span: Span, places: ShownPlaces) -> Place:
    position = places.index(span.path).position(span.start)
    return Place(places.path(span.path), position.line, position.column)
