"""What the families that see call their settings and tensors alike, and how their files say sizes."""

from __future__ import annotations

import math
from typing import Any, cast

from bough.families.family import ACTIVATIONS, LABELS
from bough.keymap import Alias, Fuse, Rename, Reshape
from bough.record import brief
from bough.settings import INNER, OrSoFar, Refused, Setting, Where
from bough.spec import Embedding, Patches, Shape


def cut(embedding: Embedding) -> Patches:
    """How an embedding cuts pictures."""
    if not embedding.patches:
        raise ValueError("must be of pictures")
    return embedding.patches


def each(theirs: Any, count: int) -> Shape:
    """A number for each direction; one alone stands for all."""
    given = cast("list[Any]", theirs) if isinstance(theirs, list) else [theirs] * count
    if len(given) != count or not all(isinstance(one, int) and not isinstance(one, bool) for one in given):
        raise ValueError(f"must be a whole number or a list of {count}, not {brief(theirs)}")
    return tuple(given)


def alone(numbers: list[int]) -> Any:
    """The one number that stands for all, where they are equal."""
    return numbers[0] if len(set(numbers)) == 1 else numbers


def shaped(theirs: Any, current: Embedding) -> Embedding:
    """The embedding with pieces of this shape."""
    return current.but(**{"patches.shape": each(theirs, len(cut(current).shape))})


def trained(*directions: int) -> Where:
    """The size, in these directions, of the pictures that positions were learned for; to be read behind the shape."""

    def read(theirs: Any, current: Embedding) -> Embedding:
        patches = cut(current)
        grid = list(patches.grid)
        for direction, size in zip(directions, each(theirs, len(directions)), strict=True):
            grid[direction], rest = divmod(size, patches.shape[direction])
            if rest:
                raise ValueError(f"{brief(theirs)} cannot be cut into pieces of {brief(patches.shape)}")
        return current.but(**{"patches.grid": tuple(grid), "positions.size": 1 + math.prod(grid)})

    def write(ours: Embedding) -> Any:
        grid, shape = cut(ours).grid, cut(ours).shape
        return alone([grid[direction] * shape[direction] for direction in directions])

    return Where(read, write)


def as_wide(theirs: Any, width: int) -> int:
    """The width of the pooler, where it is the trunk's."""
    if theirs != width:
        raise ValueError(f"{brief(theirs)} is refused: the pooler is as wide as the trunk, {width}")
    return width


SETTINGS = (
    Setting("hidden_size", "width"),
    Setting("num_hidden_layers", "depth"),
    Setting("num_attention_heads", "heads"),
    Setting("intermediate_size", "feed.inner", codec=INNER, unsaid=3072),
    Setting("hidden_act", "feed.activation", codec=ACTIVATIONS),
    Setting("layer_norm_eps", "norm.epsilon"),
    Setting("hidden_dropout_prob", "embedding.dropout", "attention.dropout", "feed.dropout"),
    Setting("attention_probs_dropout_prob", "attention.weights_dropout"),
    Setting("initializer_range", "initial.std"),
    Setting("qkv_bias", "attention.bias"),
    Setting("num_channels", "embedding.patches.channels"),
    Setting("pooler_output_size", "width", codec=OrSoFar(Where(as_wide, int))),
    Refused("pooler_act", ("tanh", None), "the pooler ends in tanh here"),
    *LABELS,
)
"""What a family that sees says of all but the sizes of what it sees."""
LAYER = {
    "attention.output.dense": ("attention.o_proj", "attention.out"),
    "layernorm_before": ("layernorm_before", "attention_norm"),
    "intermediate.dense": ("mlp.fc1", "feed.up"),
    "output.dense": ("mlp.fc2", "feed.down"),
    "layernorm_after": ("layernorm_after", "feed_norm"),
}
"""The parts of a layer, each with its newer name and ours."""
QKV = "blocks.{i}.attention.qkv.{p}"
TRUNK = (
    Reshape("embeddings.cls_token", "embed.tokens.first", lambda spec: (1, 1, spec.width)),
    Reshape(
        "embeddings.patch_embeddings.projection.weight", "embed.tokens.project.weight",
        lambda spec: (spec.width, cut(spec.embedding).channels, *cut(spec.embedding).shape),
    ),
    Rename("embeddings.patch_embeddings.projection.bias", "embed.tokens.project.bias"),
    Reshape(
        "embeddings.position_embeddings", "embed.positions.weight",
        lambda spec: (1, 1 + cut(spec.embedding).count, spec.width),
    ),
    Fuse(tuple(f"encoder.layer.{{i}}.attention.attention.{x}.{{p}}" for x in ("query", "key", "value")), QKV),
    Alias(tuple(f"layers.{{i}}.attention.{x}_proj.{{p}}" for x in "qkv"), QKV),
    *(Rename(f"encoder.layer.{{i}}.{one}.{{p}}", f"blocks.{{i}}.{ours}.{{p}}") for one, (_, ours) in LAYER.items()),
    *(Alias(f"layers.{{i}}.{newer}.{{p}}", f"blocks.{{i}}.{ours}.{{p}}") for newer, ours in LAYER.values()),
    Rename("layernorm.{p}", "norm.{p}"),
    Rename("pooler.dense.{p}", "outputs.pooler.dense.{p}"),
)  # fmt: skip
