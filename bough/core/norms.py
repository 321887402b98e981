"""The norm that torch has in another form: averages over all tokens of a batch, none of which is padding here."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

Stream = Float[Tensor, "tokens width"]
AVERAGING = ContextVar("AVERAGING", default=True)


@contextmanager
def averaging(on: bool) -> Generator[None, None, None]:
    """Whether what passes moves the averages; what is run again on the way back has moved them before."""
    before = AVERAGING.set(on)
    try:
        yield
    finally:
        AVERAGING.reset(before)


class Averaged(nn.Module):
    """Batch norm: each column by its mean and variance over the batch; in answers by those it kept while it learned."""

    def __init__(self, width: int, epsilon: float, momentum: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(width))
        self.bias = nn.Parameter(torch.empty(width))
        self.running_mean: Tensor
        self.running_var: Tensor
        self.register_buffer("running_mean", torch.empty(width))
        self.register_buffer("running_var", torch.empty(width))
        self.epsilon = epsilon
        self.momentum = momentum

    def forward(self, x_TW: Stream) -> Stream:
        mean, var = self.running_mean, self.running_var
        if not AVERAGING.get():
            mean, var = mean.clone(), var.clone()
        return F.batch_norm(x_TW, mean, var, self.weight, self.bias, self.training, self.momentum, self.epsilon)
