"""New weights: each tensor drawn from a seed and its own name, as the architecture's authors drew theirs."""

from __future__ import annotations

import hashlib
import math

import torch
from torch import Tensor

from bough.spec import Sinusoid, Spec

ZERO = ("bias", "shift", "running_mean")


def fresh(spec: Spec, seed: int = 0, only: str = "") -> dict[str, Tensor]:
    """New weights for the tensors whose names start with `only`. Each is drawn from the seed and its own name."""
    return {name: _drawn(name, shape, spec, seed) for name, shape in spec.tensors().items() if name.startswith(only)}


def sinusoid(size: int, width: int, layout: str) -> Tensor:
    """The table of a sinusoid: sines in even columns and cosines in odd ones, or all sines first."""
    steps = torch.arange(0, width, 2, dtype=torch.float64) / width
    angles = torch.arange(size, dtype=torch.float64)[:, None] / 10000**steps
    waves = torch.stack((angles.sin(), angles.cos()), dim=-1)
    waves = waves if layout == "interleaved" else waves.transpose(1, 2)
    return waves.flatten(1)[:, :width].float()


def _drawn(name: str, shape: tuple[int, ...], spec: Spec, seed: int) -> Tensor:
    """One new tensor: gains one, biases zero, sinusoids computed, the rest normal around zero."""
    positions = spec.embedding.positions
    if name.endswith(ZERO):
        return torch.zeros(shape)
    if name.endswith("embed.positions.weight") and isinstance(positions, Sinusoid):
        return sinusoid(shape[0], shape[1], positions.layout)
    if len(shape) == 1 and not name.endswith(".first"):
        return torch.ones(shape)
    digest = hashlib.blake2b(f"{seed}:{name}".encode(), digest_size=7).digest()
    generator = torch.Generator().manual_seed(int.from_bytes(digest, "big"))
    drawn = torch.normal(0.0, _std(name, shape, spec), shape, generator=generator)
    if spec.initial.fan and not spec.attention.scale.root and name.endswith((".qkv.weight", ".q.weight")):
        # What scores are not divided by, queries are.
        drawn[: spec.heads * spec.head_width] *= spec.head_width**-0.5
    return drawn


def _std(name: str, shape: tuple[int, ...], spec: Spec) -> float:
    initial = spec.initial
    if initial.tables is not None and name.removeprefix("encoder.").startswith("embed."):
        return initial.tables
    std = initial.std
    if initial.fan:
        std /= math.sqrt(shape[-1] if "blocks." in name else spec.width)
    if initial.residual and "blocks." in name and name.endswith((".out.weight", ".down.weight")):
        std /= math.sqrt(2 * len(spec.order))
    return std
