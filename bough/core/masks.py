"""Who may look at whom: each mask is a predicate on a query's position and a key's, both in the same sequence."""

from __future__ import annotations

from collections.abc import Callable

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from bough.spec import Causal, Full, Mask

Predicate = Callable[[Int[Tensor, "..."], Int[Tensor, "..."]], Bool[Tensor, "..."]]


def everything(query: Int[Tensor, "..."], key: Int[Tensor, "..."]) -> Bool[Tensor, "..."]:
    """Any position sees any other."""
    return torch.ones_like(query + key, dtype=torch.bool)


def the_past(query: Int[Tensor, "..."], key: Int[Tensor, "..."]) -> Bool[Tensor, "..."]:
    """A position sees itself and what came before."""
    return key <= query


def predicate(mask: Mask) -> Predicate:
    """The predicate of a mask."""
    match mask:
        case Full():
            return everything
        case Causal():
            return the_past
