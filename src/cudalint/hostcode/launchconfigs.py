"""The stream in a launch configuration that a function fills itself.

`cudaLaunchKernelEx(&config, kernel, …)` runs on `config.stream`. What was put
there is known only where every mention of `config` is; whether it is a null
stream is `cudalint.hostcode.streams`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cudalint.project.headermacros import home
from cudalint.regex import regex
from cudalint.syntax.brackets import split_arguments

if TYPE_CHECKING:
    from cudalint.context import Context
    from cudalint.devicecode.flow.bindings import Bindings, Local
    from cudalint.syntax.model import Call

CONFIGURED = frozenset({"cudaLaunchKernelEx", "cudaLaunchKernelExC", "cuLaunchKernelEx"})
"""API calls that take the address of a configuration first."""

_STREAM_IN = {"cudaLaunchConfig_t": ("stream", 3), "CUlaunchConfig": ("hStream", 7)}
"""The types of a configuration: the name of its stream, and which member it is, from 0."""

_ADDRESS = regex(r"&\s*(\w+)")
_READS = regex(r"(?:cuda|cu)Occupancy\w+|memset|sizeof")
_CALLED = regex(r"(\w+)\s*(?:<[^<>;()]*>)?\s*$")
_FAR = 200


def streams_of(call: Call, context: Context) -> tuple[str, ...] | None:
    """What the stream of a `CONFIGURED` call may be, as written; () where nobody sets it.

    None where that is not known: the configuration is no local of the function, or
    is given to something that may fill it.
    """
    arguments = call.arguments
    name = _ADDRESS.fullmatch(arguments[0].text) if arguments else None
    if name is None or call.via_macro or call.function < 0:
        return None
    bindings = context.bindings(home(call), call.function)
    local = bindings.find(name[1], call.span.start) if bindings else None
    if bindings is None or local is None or local.parameter:
        return None
    stream = _STREAM_IN.get(local.type.replace("struct ", "").replace("::", "").strip())
    if stream is None:
        return None
    first = _initial(local, bindings, *stream)
    later = _assigned(local, bindings, stream[0])
    return None if first is None or later is None else (*first, *later)


def _initial(local: Local, bindings: Bindings, member: str, place: int) -> tuple[str, ...] | None:
    """What the declaration makes of the stream: () for nothing, None if it can't be told."""
    written = [v for v in local.values if v.start < local.start]
    if not written:
        return ()
    text = bindings.code[written[0].start : written[0].end].strip().removeprefix("=").strip()
    text = text.removeprefix(local.type).strip()
    if text[:1] != "{" or text[-1:] != "}":
        return None
    data = text[1:-1].encode("latin-1")
    parts = [data[a:b].decode("latin-1").strip() for a, b in split_arguments(data)]
    if any(part.startswith(".") for part in parts):
        named = (re.fullmatch(rf"\.{member}\s*(?:=\s*(.+)|(\{{.*\}}))", part) for part in parts)
        return tuple(match[1] or match[2] for match in named if match)
    return (parts[place],) if len(parts) > place else ()


def _assigned(local: Local, bindings: Bindings, member: str) -> tuple[str, ...] | None:
    """What is stored in the stream; None where a mention of the configuration may fill it."""
    code = bindings.code
    found = []
    mention = regex(rf"(?<![\w.>:]){local.name}\b\s*(\.\s*(\w+)\s*(=(?!=))?)?")
    for match in mention.finditer(code, local.start, local.scope_end):
        if match[2] == member and match[3]:
            found.append(code[match.end() : bindings.brackets.expression_end(match.end())].strip())
        elif match[2] == member or (match[2] is None and not _only_read(bindings, match.start())):
            return None
    return tuple(found)


def _only_read(bindings: Bindings, at: int) -> bool:
    """Whether the mention at `at` is an argument of a call that launches, asks or zeroes."""
    around = bindings.brackets.around(at)
    if around is None:
        return False
    called = _CALLED.search(bindings.code, max(around[0] - _FAR, 0), around[0])
    return called is not None and (called[1] in CONFIGURED or bool(_READS.fullmatch(called[1])))
