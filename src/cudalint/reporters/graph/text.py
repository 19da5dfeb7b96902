"""Answers for people: each function, then its chains, a line for each hop.

host/queue.cpp:9:13: Queue::drain is on a launch path: what reaches a launch calls it.

  chain 1 of 1, from the launch of decode:
    host/step.cu:14:6: Engine::step starts
    host/step.cu:15:3: Engine::step launches decode (launch by <<<>>>)
    host/step.cu:16:3: Engine::step calls Queue::drain (method, macro CHECK)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from cudalint.reporters.graph.words import how, verdict
from cudalint.reporters.visible import visible

if TYPE_CHECKING:
    from cudalint.finding import Span
    from cudalint.hostcode.chain import Chain, Hop
    from cudalint.hostcode.explanation import Explanation
    from cudalint.reporters.shownplaces import ShownPlaces


def text(explanations: Sequence[Explanation], places: ShownPlaces) -> str:
    """The answers, with an empty line between them."""
    return "\n".join(
        "".join(f"{line}\n" for line in _explained(explanation, places))
        for explanation in explanations
    )


def _explained(explanation: Explanation, places: ShownPlaces) -> Iterator[str]:
    function = explanation.function
    yield f"{_at(function.span, places)}: {visible(f'{function.name} {verdict(explanation)}')}."
    for number, chain in enumerate(explanation.chains, 1):
        yield ""
        yield f"  {_title(explanation, number, chain)}:"
        yield from (f"    {line}" for line in _hops(chain, places))
    left = explanation.total - len(explanation.chains)
    if left:
        yield ""
        yield f"  {left} more {'chain' if left == 1 else 'chains'} (--limit)"
    if explanation.total_callers:
        yield ""
        yield from (f"    {_hop(hop, places)}" for hop in explanation.callers)
    left = explanation.total_callers - len(explanation.callers)
    if left:
        yield f"    {left} more (--limit)"


def _title(explanation: Explanation, number: int, chain: Chain) -> str:
    if explanation.verdict in ("cold", "cut"):
        return "the way that is cut"
    launched = (
        f"from the launch of {visible(chain.down[-1].callee.name)}"
        if chain.down
        else ("from a function marked 'cudalint: hot'")
    )
    return f"chain {number} of {explanation.total}, {launched}"


def _hops(chain: Chain, places: ShownPlaces) -> Iterator[str]:
    """The root, the hops, and below each what is cold there."""
    why = dict(chain.cold)
    yield f"{_at(chain.root.span, places)}: {visible(chain.root.name)} starts"
    if chain.root in why:
        yield f"  cut: {visible(f'{chain.root.name} is cold, since {why[chain.root]}')}"
    for hop in (*chain.down, *chain.below):
        yield _hop(hop, places)
        if hop.callee in why:
            yield f"  cut: {visible(f'{hop.callee.name} is cold, since {why[hop.callee]}')}"


def _hop(hop: Hop, places: ShownPlaces) -> str:
    does = "launches" if hop.kind == "launch" else "calls"
    line = f"{hop.caller.name} {does} {hop.callee.name} ({how(hop)})"
    cut = f"; cut: this {hop.cut}" if hop.cut else ""
    return f"{_at(hop.span, places)}: {visible(line + cut)}"


def _at(span: Span, places: ShownPlaces) -> str:
    return places.place(span.path, span.start)
