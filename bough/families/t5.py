"""T5: an encoder and a decoder to which every task is text; distances bias scores, and nothing else has a bias."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from bough.families.family import ACTIVATIONS, Preset, grown
from bough.families.forms import Form, Pieces
from bough.families.transformer import TRANSFORMER
from bough.families.two_sides import TABLE, WORDS
from bough.keymap import Drop, Fuse, Only, Rename
from bough.settings import INNER, Choice, OrSoFar, Refused, Setting, Told, Where
from bough.spec import (
    Attention,
    Causal,
    Embedding,
    Encoder,
    FeedForward,
    Initial,
    Outputs,
    PreNorm,
    RelativeBias,
    RMSNorm,
    Scale,
    Spec,
    Tied,
    Untied,
    Words,
)

CROSS = "decoder.block.{i}.layer.1.EncDecAttention."
RATES = ("attention.weights_dropout", "attention.dropout", "feed.inner_dropout", "feed.dropout")
SCALED = Tied(scaled=True)
TIED = Choice(((True, SCALED), (False, Untied())))
NEWER = {"feed.gated": True, "feed.activation": "gelu_tanh", "outputs.words.projection": Untied()}
"""What version 1.1 changes and FLAN-T5 keeps. Their files, and so their counts, have both tables."""
# What its files call a gated gelu has always been computed by the tanh formula.
FEEDS = Choice((
    *((name, (False, activation)) for name, activation in ACTIVATIONS.pairs),
    ("gated-gelu", (True, "gelu_tanh")),
    *((f"gated-{name}", (True, activation)) for name, activation in ACTIVATIONS.pairs if name != "gelu"),
))  # fmt: skip


@dataclass(frozen=True)
class Fed:
    """Whether the feed-forward is gated and what it is activated by, in one word."""

    def read(self, theirs: Any, current: FeedForward) -> FeedForward:
        gated, activation = FEEDS.read(theirs, None)
        return current.but(gated=gated, activation=activation)

    def write(self, ours: FeedForward, spec: Spec) -> Any:
        return FEEDS.write((ours.gated, ours.activation), spec)


def _scaled(theirs: Any, so_far: Tied | Untied) -> Tied | Untied:
    unscaled = Tied() if so_far == SCALED else so_far
    return SCALED if TIED.read(theirs, None) == SCALED else unscaled


def _as_it_holds(spec: Spec, names: Collection[str]) -> Spec:
    """What scores unscaled states is a table of its own if the file holds one: its tools call it tied in any case."""
    if not spec.outputs.words or spec.outputs.words.projection == SCALED:
        return spec
    return spec.but(**{"outputs.words.projection": Untied() if "lm_head.weight" in names else Tied()})


def _layers(theirs: str, ours: str, feed: int) -> tuple[Rename | Fuse | Only, ...]:
    """The names of a side, whose feed-forward is the sublayer of this number."""
    layer, block = f"{theirs}.block.{{i}}.layer.", ours + "blocks.{i}."
    attention, inner, up = layer + "0.SelfAttention.", layer + f"{feed}.DenseReluDense.", block + "feed.up.weight"
    return (
        Fuse(tuple(f"{attention}{x}.weight" for x in "qkv"), block + "attention.qkv.weight"),
        Rename(attention + "o.weight", block + "attention.out.weight"),
        Rename(layer + "0.layer_norm.weight", block + "attention_norm.weight"),
        Only(lambda spec: not spec.feed.gated, Rename(inner + "wi.weight", up)),
        Only(lambda spec: spec.feed.gated, Fuse(tuple(f"{inner}wi_{n}.weight" for n in "01"), up)),
        Rename(inner + "wo.weight", block + "feed.down.weight"),
        Rename(layer + f"{feed}.layer_norm.weight", block + "feed_norm.weight"),
        Rename(attention.format(i=0) + "relative_attention_bias.weight", ours + "relative.weight"),
        Rename(f"{theirs}.final_layer_norm.weight", ours + "norm.weight"),
    )


T5 = grown(
    TRANSFORMER,
    name="t5", title="T5", year=2019,
    paper="Raffel et al., Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer",
    adds="every task as text into text, holes to fill as objective; a bias by distance for positions; no other bias",
    model_type="t5",
    base=Spec(
        "t5", vocabulary=32128, width=512, depth=6, heads=8,
        attention=Attention(Causal(), Scale(root=False), RelativeBias(), bias=False, out_bias=False),
        feed=FeedForward(activation="relu", bias=False, inner_dropout=0.1), encoder=Encoder(),
        embedding=Embedding(None), norm=RMSNorm(), placement=PreNorm(), dropout=0.1,
        initial=Initial(1.0, tables=1.0, fan=True), outputs=Outputs(words=Words(projection=SCALED)),
    ),
    presets={
        "t5-tiny": Preset({"width": 128, "depth": 2, "heads": 2}, 5_031_552),
        "t5-small": Preset({}, 60_506_624, "config of google-t5/t5-small"),
        "t5-base": Preset({"width": 768, "depth": 12, "heads": 12}, 222_903_552, "config of google-t5/t5-base"),
        "t5-large": Preset({"width": 1024, "depth": 24, "heads": 16}, 737_668_096, "config of google-t5/t5-large"),
        "t5-v1.1-small": Preset({**NEWER, "depth": 8, "heads": 6, "attention.width": 64, "feed.inner": 1024},
                                76_961_152, "config of google/t5-v1_1-small"),
        "t5-v1.1-base": Preset({**NEWER, "width": 768, "depth": 12, "heads": 12, "feed.inner": 2048},
                               247_577_856, "config of google/t5-v1_1-base"),
    },
    outputs=Outputs(words=Words(projection=SCALED)),
    architectures=(("T5Model", ()), ("T5ForConditionalGeneration", ("words",))),
    settings=(
        Setting("vocab_size", "vocabulary"),
        Setting("d_model", "width", also=("hidden_size",)),
        Setting("num_layers", "depth", "encoder.depth", also=("num_hidden_layers",), unsaid=6,
                codec=Told(lambda spec: spec.source.depth)),
        Setting("num_decoder_layers", "depth", codec=OrSoFar()),
        Setting("num_heads", "heads", also=("num_attention_heads",)),
        Setting("d_kv", "attention.width", codec=Told(lambda spec: spec.head_width), also=("head_dim",), unsaid=64),
        Setting("d_ff", "feed.inner", codec=INNER, unsaid=2048),
        Setting("feed_forward_proj", "feed", codec=Fed()),
        Setting("is_gated_act", "feed.gated"),
        Setting("dense_act_fn", "feed.activation", codec=ACTIVATIONS),
        Setting("relative_attention_num_buckets", "attention.relative.buckets"),
        Setting("relative_attention_max_distance", "attention.relative.distance"),
        Setting("layer_norm_epsilon", "norm.epsilon"),
        Setting("dropout_rate", "embedding.dropout", *RATES, "dropout"),
        Setting("initializer_factor", "initial.std", "initial.tables"),
        Setting("decoder_start_token_id", "encoder.start", codec=OrSoFar()),
        # Files of older tools say the first of these alone, by which those meant both.
        Setting("tie_word_embeddings", "outputs.words.projection", codec=Where(TIED.read, lambda one: one != Untied())),
        Setting("scale_decoder_outputs", "outputs.words.projection", codec=Where(_scaled, lambda one: one == SCALED)),
        Refused("is_decoder", (False, None), "the decoder is read together with its encoder"),
    ),
    prefix="",
    trunk=(
        *TABLE,
        *_layers("encoder", "encoder.", 1),
        *_layers("decoder", "", 2),
        Rename(CROSS + "q.weight", "blocks.{i}.cross.q.weight"),
        Fuse(tuple(CROSS + f"{x}.weight" for x in "kv"), "blocks.{i}.cross.kv.weight"),
        Rename(CROSS + "o.weight", "blocks.{i}.cross.out.weight"),
        Rename("decoder.block.{i}.layer.1.layer_norm.weight", "blocks.{i}.cross_norm.weight"),
        Drop(CROSS.format(i=0) + "relative_attention_bias.weight"),
    ),
    heads=WORDS, harmless=frozenset({"classifier_dropout", "n_positions"}), tells={}, settles=_as_it_holds,
    text=Form(
        Pieces(), ("T5Tokenizer",), "A eos", "A eos B eos", unk="<unk>", pad="<pad>", eos="</s>",
        first=("pad", "eos", "unk"), last=("further",), further=tuple(f"<extra_id_{n}>" for n in reversed(range(100))),
    ),
)  # fmt: skip
