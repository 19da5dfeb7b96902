"""Records of a macro's body as one use makes them: arguments in place of parameters."""

from __future__ import annotations

import msgspec

from cudalint.finding import Span
from cudalint.syntax import records
from cudalint.syntax.brackets import split_arguments
from cudalint.syntax.effort import spend
from cudalint.syntax.macros import substitute
from cudalint.syntax.model import Argument, Call, Launch, normal

_CALL_UNITS = 60


def put(text: str, values: dict[bytes, bytes]) -> str:
    """`text` out of a macro's body with `values` in place of its parameters."""
    return normal(substitute(text.encode(), values)) if values or "#" in text else text


def call_at(call: Call, values: dict[bytes, bytes], use: Span | None, shift: int) -> Call:
    """A call of a macro's body as one use makes it; `shift` is added to its function's index."""
    spend(_CALL_UNITS)
    callee = put(call.callee, values)
    name_range, receiver = records.split_callee(callee.encode())
    name = callee.encode()[slice(*name_range)].decode() if name_range else ""
    return msgspec.structs.replace(
        call,
        callee=callee,
        name=name,
        receiver=receiver,
        argument_text=substitute(call.argument_text, values),
        function=call.function + shift if call.function >= 0 else -1,
        use=use,
    )


def launch_at(launch: Launch, values: dict[bytes, bytes], use: Span | None, shift: int) -> Launch:
    """A launch of a macro's body as one use makes it, like `call_at`."""
    kernel = put(launch.kernel, values)
    name_range, _ = records.split_callee(kernel.encode())
    return msgspec.structs.replace(
        launch,
        kernel=kernel,
        name=kernel.encode()[slice(*name_range)].decode() if name_range else "",
        configuration=_arguments_at(launch.configuration, values),
        arguments=_arguments_at(launch.arguments, values),
        function=launch.function + shift if launch.function >= 0 else -1,
        use=use,
    )


def _arguments_at(
    arguments: tuple[Argument, ...], values: dict[bytes, bytes]
) -> tuple[Argument, ...]:
    """The arguments with parameters put in; one that becomes several is split."""
    found = []
    for argument in arguments:
        text = substitute(argument.text.encode(), values)
        for low, high in split_arguments(text):
            found.append(Argument(argument.span, normal(text[low:high])))
    return tuple(found)
