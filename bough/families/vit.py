"""ViT: an encoder of pictures, cut into pieces that stand where words stood."""

from __future__ import annotations

import math
from typing import Any, cast

from bough.families.family import ACTIVATIONS, LABELS, Family, Preset
from bough.keymap import Alias, Fuse, Rename, Reshape
from bough.record import brief
from bough.settings import INNER, OrSoFar, Refused, Setting, Where
from bough.spec import (
    Attention,
    Classify,
    Embedding,
    FeedForward,
    First,
    LayerNorm,
    Learned,
    Outputs,
    Patches,
    Pooler,
    PreNorm,
    Shape,
    Spec,
)


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


def labelled(count: int) -> Outputs:
    """A head that scores so many labels; files name them."""
    return Outputs(classify=CLASSIFY.but(labels=tuple(f"LABEL_{number}" for number in range(count))))


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
CLASSIFY = Classify(reads=First(), dropout=0.0)
LARGE = {"width": 1024, "depth": 24, "heads": 16}
HUGE = {"width": 1280, "depth": 32, "heads": 16, "embedding.patches": Patches((14, 14), (16, 16))}
TINY = {"width": 128, "depth": 2, "heads": 2, "embedding.patches": Patches((4, 4), (8, 8))}

VIT = Family(
    name="vit",
    title="ViT",
    year=2020,
    paper="Dosovitskiy et al., An Image is Worth 16x16 Words: Transformers for Image Recognition at Scale",
    parent="bert",
    branch="encoder",
    adds="pictures cut into pieces that stand in place of words; norms in front of each sublayer and one at the end",
    model_type="vit",
    base=Spec(
        "vit", vocabulary=0, width=768, depth=12, heads=12,
        embedding=Embedding(Learned(197), dropout=0.0, patches=Patches((16, 16), (14, 14))),
        attention=Attention(weights_dropout=0.0, dropout=0.0), feed=FeedForward(dropout=0.0),
        norm=LayerNorm(1e-12), placement=PreNorm(), outputs=Outputs(classify=CLASSIFY),
    ),
    presets={
        "vit-tiny": Preset({**TINY, "embedding.positions.size": 65, "outputs": labelled(10)}, 412_810),
        "vit-base": Preset({"outputs": labelled(1000)}, 86_567_656, "config of google/vit-base-patch16-224"),
        "vit-large": Preset(
            {**LARGE, "outputs": labelled(1000)}, 304_326_632, "config of google/vit-large-patch16-224"
        ),
        "vit-huge": Preset(
            {**HUGE, "embedding.positions.size": 257, "outputs": Outputs(Pooler())}, 632_404_480,
            "config of google/vit-huge-patch14-224-in21k",
        ),
    },
    outputs=Outputs(Pooler(), classify=CLASSIFY),
    architectures=(("ViTModel", ()), ("ViTForImageClassification", ("classify",)), ("ViTModel", ("pooler",))),
    settings=(
        Setting("patch_size", "embedding", codec=Where(shaped, lambda ours: alone([*cut(ours).shape]))),
        Setting("image_size", "embedding", codec=trained(-2, -1), unsaid=224),
        *SETTINGS,
    ),
    prefix="vit.",
    trunk=(
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
    ),
    heads=(Rename("classifier.{p}", "outputs.classify.out.{p}"),),
    harmless=frozenset(["encoder_stride"]),
)  # fmt: skip
