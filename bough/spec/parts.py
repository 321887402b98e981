"""What every part of an architecture is made of: the kinds of its numbers, and the tensors of a linear layer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal, TypeAlias

from bough.record import Range

Size: TypeAlias = Annotated[int, Range(1, 2**24)]
"""A count of something that a tensor has one row for."""
Count: TypeAlias = Annotated[int, Range(0, 2**24)]
LAYERS = 4096
"""More than any net has; a bound on the names that an architecture can be asked to spell out."""
CLUSTERS = 64
Few: TypeAlias = Annotated[int, Range(1, LAYERS)]
Rate: TypeAlias = Annotated[float, Range(0, 1)]
Epsilon: TypeAlias = Annotated[float, Range(0, 1)]

Activation: TypeAlias = Literal[
    "relu", "gelu", "gelu_tanh", "gelu_sigmoid", "silu", "tanh", "sigmoid", "mish", "relu_squared", "identity"
]
Shape: TypeAlias = tuple[int, ...]
Tensors: TypeAlias = Iterator[tuple[str, Shape]]


def linear(name: str, inputs: int, outputs: int, bias: bool = True) -> Tensors:
    """The tensors of a linear layer."""
    yield f"{name}.weight", (outputs, inputs)
    if bias:
        yield f"{name}.bias", (outputs,)
