"""The feed-forward of a block, and the activations by name."""

from __future__ import annotations

import functools
from collections.abc import Callable

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from bough.core.attention import Layer, Sublayer
from bough.spec import Activation

Stream = Float[Tensor, "tokens width"]
Elementwise = Callable[[Tensor], Tensor]


def _gelu_sigmoid(x: Tensor) -> Tensor:
    return x * torch.sigmoid(1.702 * x)


def _relu_squared(x: Tensor) -> Tensor:
    return F.relu(x).square()


def _identity(x: Tensor) -> Tensor:
    return x


ACTIVATIONS: dict[Activation, Elementwise] = {
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu_tanh": functools.partial(F.gelu, approximate="tanh"),
    "gelu_sigmoid": _gelu_sigmoid,
    "silu": F.silu,
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "mish": F.mish,
    "relu_squared": _relu_squared,
    "identity": _identity,
}


def gated(activation: Elementwise) -> Elementwise:
    """Activate the first half and multiply it with the second."""

    def gate(x: Tensor) -> Tensor:
        first, second = x.chunk(2, dim=-1)
        return activation(first) * second

    return gate


class FeedForward(Sublayer):
    """Up, activate, down: each token on its own."""

    def __init__(
        self, width: int, inner: int, activation: Elementwise, gates: bool, bias: bool, dropout: float
    ) -> None:
        super().__init__()
        self.up = nn.Linear(width, 2 * inner if gates else inner, bias)
        self.down = nn.Linear(inner, width, bias)
        self.activation = gated(activation) if gates else activation
        self.dropout = nn.Dropout(dropout)

    def forward(self, x_TW: Stream, layer: Layer) -> Stream:
        return self.down(self.dropout(self.activation(self.up(x_TW))))
