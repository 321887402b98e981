"""What the distance between two tokens does to their score: each way is a module that attention asks.

Distance is the key's position less the query's. Shapes: B for batch dimensions, H heads, D a head's width, Q queries,
K keys, T tokens.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

Rows = Float[Tensor, "tokens heads head_width"]
At = Int[Tensor, " tokens"]
Distances = Int[Tensor, "*batch queries keys"]
Queries = Float[Tensor, "*any heads queries head_width"]
Keys = Float[Tensor, "*any heads keys head_width"]
Scores = Float[Tensor, "..."]


class Nowhere(nn.Module):
    """Distance counts for nothing."""

    counts = False
    """Whether it adds to scores."""

    def turn(self, x_THD: Rows, at_T: At) -> Rows:
        """Tokens' queries or keys as their positions turn them."""
        return x_THD

    def scores(self, q: Queries, k: Keys, distance: Distances, scale: float) -> Scores:
        """What is added to scaled scores."""
        return q.new_zeros(())


NOWHERE = Nowhere()


class Turned(Nowhere):
    """Rotary: a head's halves are turned as pairs, each by an angle of its own times the position."""

    def __init__(self, base: float) -> None:
        super().__init__()
        self.base = base

    def turn(self, x_THD: Rows, at_T: At) -> Rows:
        half = x_THD.shape[-1] // 2
        rates = self.base ** (-torch.arange(half, device=x_THD.device, dtype=torch.float32) / half)
        angles = (at_T[:, None].float() * rates)[:, None]
        cos, sin = angles.cos().to(x_THD), angles.sin().to(x_THD)
        first, second = x_THD[..., :half], x_THD[..., half:]
        return torch.cat((first * cos - second * sin, second * cos + first * sin), -1)


class Slopes(Nowhere):
    """A penalty for distance, each head at its own slope."""

    counts = True

    def __init__(self, heads: int) -> None:
        super().__init__()
        self.slopes = slopes(heads)

    def scores(self, q: Queries, k: Keys, distance: Distances, scale: float) -> Scores:
        slopes_H11 = torch.tensor(self.slopes, device=q.device, dtype=q.dtype)[:, None, None]
        return -distance.abs().to(q.dtype)[..., None, :, :] * slopes_H11


def slopes(heads: int) -> list[float]:
    """Powers of two, as published; between two powers of heads, every other one of the next power's."""
    power = 2 ** math.floor(math.log2(heads))
    own = [2 ** (-8 * (head + 1) / power) for head in range(power)]
    return own if power == heads else own + slopes(2 * power)[::2][: heads - power]


class Bias(nn.Module):
    """A learned number for each head and bucket of distances; the table all layers share."""

    def __init__(self, buckets: int, heads: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(buckets, heads))


class Buckets(Nowhere):
    """Adds a shared table's number for the bucket that a distance falls in."""

    counts = True

    def __init__(self, bias: Bias, furthest: int, both_ways: bool) -> None:
        super().__init__()
        # In a tuple, torch does not register the table a second time: files know it by one name.
        self.tables = (bias,)
        self.furthest = furthest
        self.both_ways = both_ways

    def scores(self, q: Queries, k: Keys, distance: Distances, scale: float) -> Scores:
        weight = self.tables[0].weight
        return F.embedding(self._bucket(distance, len(weight)), weight).movedim(-1, -3)

    def _bucket(self, distance: Distances, buckets: int) -> Distances:
        """Near distances have a bucket each; further ones share ever wider ones, in steps of the logarithm."""
        ahead = torch.zeros_like(distance)
        if self.both_ways:
            buckets //= 2
            ahead = (distance > 0) * buckets
            back = distance.abs()
        else:
            back = (-distance).clamp(min=0)
        exact = buckets // 2
        steps = (back.clamp(min=1).float() / exact).log() / math.log(self.furthest / exact) * (buckets - exact)
        far = (exact + steps.long()).clamp(max=buckets - 1)
        return ahead + torch.where(back < exact, back, far)


class KeyVectors(Nowhere):
    """A learned vector for each distance, beside the key."""

    counts = True

    def __init__(self, furthest: int, head_width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(2 * furthest + 1, head_width))
        self.furthest = furthest

    def scores(self, q: Queries, k: Keys, distance: Distances, scale: float) -> Scores:
        row = distance.clamp(-self.furthest, self.furthest) + self.furthest
        return _at(q @ self.weight.t(), row) * scale


class Biases(nn.Module):
    """The two biases that stand in the query's place, for content and for distance."""

    def __init__(self, heads: int, head_width: int) -> None:
        super().__init__()
        self.content = nn.Parameter(torch.empty(heads, head_width))
        self.position = nn.Parameter(torch.empty(heads, head_width))


class Terms(Nowhere):
    """Adds a score of distance, by sinusoids through a projection, and one of content whatever the query."""

    counts = True

    def __init__(
        self, width: int, heads: int, head_width: int, clamp: int, dropout: float, shared: Biases | None
    ) -> None:
        super().__init__()
        self.project = nn.Linear(width, heads * head_width, bias=False)
        if shared is None:
            self.content = nn.Parameter(torch.empty(heads, head_width))
            self.position = nn.Parameter(torch.empty(heads, head_width))
        self.pairs: tuple[Biases | Terms] = (self if shared is None else shared,)
        self.heads = heads
        self.clamp = clamp
        self.dropout = nn.Dropout(dropout)

    def scores(self, q: Queries, k: Keys, distance: Distances, scale: float) -> Scores:
        biases = self.pairs[0]
        back = -distance
        back = back.clamp(-self.clamp, self.clamp) if self.clamp else back
        nearest, furthest = (int(back.min()), int(back.max())) if back.numel() else (0, 0)
        waves_RW = waves(torch.arange(nearest, furthest + 1, device=q.device), self.project.in_features)
        r_HRD = self.project(self.dropout(waves_RW.to(q))).unflatten(1, (self.heads, -1)).transpose(0, 1)
        by_content = (k * biases.content[:, None]).sum(-1)[..., None, :]
        by_distance = (q + biases.position[:, None]) @ r_HRD.transpose(1, 2)
        return (by_content + _at(by_distance, back - nearest)) * scale


def waves(at_T: At, width: int) -> Float[Tensor, "tokens width"]:
    """Sines of falling frequency, then cosines."""
    rates = 10000 ** -(torch.arange(0, width, 2, device=at_T.device, dtype=torch.float32) / width)
    angles = at_T[:, None].float() * rates
    return torch.cat((angles.sin(), angles.cos()), -1)[:, :width]


def _at(values: Float[Tensor, "*any queries rows"], row: Distances) -> Scores:
    """The value of each key's row, for every head the same rows."""
    rows = row[..., None, :, :].expand(*values.shape[:-1], row.shape[-1])
    return values.gather(-1, rows)
