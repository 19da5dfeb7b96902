"""How a finding on a launch path is said: its messages, the launch, the chain of calls.

What is wrong on the path, the rules say; how a path is found is
`cudalint.hostcode.launchpath`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cudalint.finding import Confidence, Finding, Level, Related

if TYPE_CHECKING:
    from cudalint.hostcode.hotpath import OnPath
    from cudalint.hostcode.launchpath import Hop, Witness
    from cudalint.project.expansion import Place
    from cudalint.rule import Rule
    from cudalint.syntax.model import Call


_LESS = {
    Confidence.HIGH: Confidence.MEDIUM,
    Confidence.MEDIUM: Confidence.LOW,
    Confidence.LOW: Confidence.LOW,
}


def path_messages(what: str, advice: str, *, prefix: str = "") -> dict[str, str]:
    """The four messages of a fault on a launch path: `what` is wrong, `advice` what to do.

    `what` holds '{0}', the name of the call. '{1}' is the function, '{2}' what is
    launched, '{3}' the chain of functions.
    """
    return {
        f"{prefix}here": f"{what} in '{{1}}', which launches '{{2}}'; {advice}.",
        f"{prefix}through": f"{what} in '{{1}}', which launches '{{2}}' through '{{3}}'; {advice}.",
        f"{prefix}called": f"{what} in '{{1}}', which is called by '{{3}}' on the launch path "
        f"of '{{2}}'; {advice}.",
        f"{prefix}hot": f"{what} in '{{1}}', which is on a path marked hot; {advice}.",
    }


def path_finding(
    rule: type[Rule],
    place: Place[Call, OnPath],
    last: str,
    *,
    prefix: str = "",
    level: Level | None = None,
    confidence: Confidence = Confidence.HIGH,
) -> Finding:
    """The finding of `rule` at `place`; `last` says what happens at the end of the flow.

    One whose chain has a call that may mean another overload is less sure.
    """
    call, on_path = place.record, place.verdict
    if not on_path.witness.certain:
        confidence = _LESS[confidence]
    message, arguments = _explained(on_path.witness)
    launch = on_path.witness.launch
    launched = () if launch is None else (Related(launch.span, f"launch of '{launch.kernel}'"),)
    return rule.report(
        f"{prefix}{message}",
        place.span,
        call.name,
        on_path.function,
        *arguments,
        level=level,
        related=(*launched, *place.related),
        confidence=confidence,
        extents=(call.statement, *place.uses),
        flow=(*_flow(on_path.witness), Related(place.span, f"'{call.name}' {last}")),
    )


def _explained(witness: Witness) -> tuple[str, tuple[str, ...]]:
    """The message that fits, and what fills it after the call and its function."""
    if witness.launch is None:
        return "hot", ()
    kernel = witness.launch.kernel
    if witness.below:
        callers = (witness.root, *(hop.callee for hop in witness.below[:-1]))
        return "called", (kernel, " -> ".join(callers))
    if witness.down:
        return "through", (kernel, " -> ".join(hop.callee for hop in witness.down))
    return "here", (kernel,)


def _flow(witness: Witness) -> Iterator[Related]:
    """From the root of the launch path to the launch, and on to the function of the fault."""
    yield Related(witness.root_span, f"'{witness.root}' starts the launch path")
    for hop in witness.down:
        yield _step(hop)
    if witness.launch is not None:
        yield Related(witness.launch.span, f"launches '{witness.launch.kernel}'")
    for hop in witness.below:
        yield _step(hop)


def _step(hop: Hop) -> Related:
    """A call of the chain; one that may mean another overload is said to be possible only."""
    return Related(hop.span, f"{'calls' if hop.certain else 'may call'} '{hop.callee}'")
