"""What a hop, a cut and a verdict are called in the formats that people read."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cudalint.hostcode.chain import Hop
    from cudalint.hostcode.explanation import Explanation, Verdict

_VERDICTS: dict[Verdict, str] = {
    "launches": "is on a launch path: a launch is reached from it",
    "called": "is on a launch path: what reaches a launch calls it",
    "hot": "is on a launch path: a comment says 'cudalint: hot'",
    "cold": "is on no launch path: it is cold, since",
    "cut": "is on no launch path: the way to a launch is cut",
    "apart": "is on no launch path: no launch is reached from it, nor from what calls it",
    "kernel": "is a kernel, and launch paths are the host's",
    "device": "runs on the device, and launch paths are the host's",
    "undefined": "has no body in the files that were read, only a declaration",
}


def verdict(explanation: Explanation) -> str:
    """What goes after the function's name, without a period."""
    said = _VERDICTS[explanation.verdict]
    return f"{said} {explanation.why}" if explanation.why else said


def how(hop: Hop) -> str:
    """How a hop is made: `method, in a lambda, macro CHECK, or another overload`."""
    first = {"call": "call", "method": "method", "launch": f"launch by {hop.means}"}[hop.kind]
    parts = [first, *(["in a lambda"] if hop.in_lambda else [])]
    parts += [f"macro {hop.macro}"] if hop.macro else []
    return ", ".join([*parts, *([] if hop.certain else ["or another overload"])])
