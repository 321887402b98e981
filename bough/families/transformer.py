"""Transformer: the root of the tree, an encoder and a decoder that looks at it; kept in Marian's files."""

from bough.families.family import ACTIVATIONS, Family, Preset
from bough.keymap import Alias, Constant, Fuse, Only, Rename
from bough.record import brief
from bough.settings import INNER, OrSoFar, Refused, Setting, Switch, Told, Where
from bough.spec import (
    Attention,
    Causal,
    Embedding,
    Encoder,
    FeedForward,
    Initial,
    LayerNorm,
    Outputs,
    Sinusoid,
    Spec,
    Tied,
    Untied,
    Words,
)

SIDES = (
    Setting("d_model", "width", also=("hidden_size",)),
    Setting("decoder_layers", "depth"),
    Setting("encoder_layers", "encoder.depth", also=("num_hidden_layers",), unsaid=12,
            codec=Told(lambda spec: spec.source.depth)),
    Setting("decoder_attention_heads", "heads"),
    Setting("encoder_attention_heads", "encoder.heads", also=("num_attention_heads",), unsaid=16,
            codec=Told(lambda spec: spec.source.heads)),
    Setting("decoder_ffn_dim", "feed.inner", codec=INNER, unsaid=4096),
    Setting("encoder_ffn_dim", "encoder.inner", unsaid=4096,
            codec=Told(lambda spec: spec.source.feed.inside(spec.width))),
    Setting("activation_function", "feed.activation", codec=ACTIVATIONS),
    Setting("attention_dropout", "attention.weights_dropout"),
    Setting("activation_dropout", "feed.inner_dropout"),
    Setting("dropout", "embedding.dropout", "attention.dropout", "feed.dropout"),
    Setting("init_std", "initial.std"),
    Setting("scale_embedding", "embedding.scaled"),
    Setting("decoder_start_token_id", "encoder.start", codec=OrSoFar()),
    Setting("tie_word_embeddings", "outputs.words.projection", codec=Switch(off=Untied, on=Tied)),
    Refused("is_decoder", (False, None), "the decoder is read together with its encoder"),
    Refused("encoder_layerdrop", (0.0, 0, None), "every layer runs at every step"),
    Refused("decoder_layerdrop", (0.0, 0, None), "every layer runs at every step"),
)  # fmt: skip
"""What this family and its descendants say alike."""
LAYERS = (
    *(
        rule
        for theirs, ours in (("encoder", "encoder.blocks"), ("decoder", "blocks"))
        for rule in (
            Fuse(
                tuple(f"{theirs}.layers.{{i}}.self_attn.{x}_proj.{{p}}" for x in "qkv"),
                f"{ours}.{{i}}.attention.qkv.{{p}}",
            ),
            Rename(f"{theirs}.layers.{{i}}.self_attn.out_proj.{{p}}", f"{ours}.{{i}}.attention.out.{{p}}"),
            Rename(f"{theirs}.layers.{{i}}.self_attn_layer_norm.{{p}}", f"{ours}.{{i}}.attention_norm.{{p}}"),
            Rename(f"{theirs}.layers.{{i}}.fc1.{{p}}", f"{ours}.{{i}}.feed.up.{{p}}"),
            Rename(f"{theirs}.layers.{{i}}.fc2.{{p}}", f"{ours}.{{i}}.feed.down.{{p}}"),
            Rename(f"{theirs}.layers.{{i}}.final_layer_norm.{{p}}", f"{ours}.{{i}}.feed_norm.{{p}}"),
        )
    ),
    Rename("decoder.layers.{i}.encoder_attn.q_proj.{p}", "blocks.{i}.cross.q.{p}"),
    Fuse(tuple(f"decoder.layers.{{i}}.encoder_attn.{x}_proj.{{p}}" for x in "kv"), "blocks.{i}.cross.kv.{p}"),
    Rename("decoder.layers.{i}.encoder_attn.out_proj.{p}", "blocks.{i}.cross.out.{p}"),
    Rename("decoder.layers.{i}.encoder_attn_layer_norm.{p}", "blocks.{i}.cross_norm.{p}"),
)


def one_table(spec: Spec) -> bool:
    """Whether both sides have the same words."""
    return not spec.encoder or spec.encoder.vocabulary is None


def two_tables(spec: Spec) -> bool:
    """Whether each side has words of its own."""
    return not one_table(spec)


def _own_words(shared: object, words: object) -> object:
    """How many words the source has of its own, given whether it shares the target's."""
    if not isinstance(shared, bool):
        raise ValueError(f"must be true or false, not {brief(shared)}")
    return None if shared else words


SHARED = Where(_own_words, lambda words: words is None)
"""Whether both sides have the same words, where how many the source has is already read."""
TABLE = (
    Only(one_table, Rename("shared.weight", "embed.tokens.weight")),
    Only(one_table, Alias("encoder.embed_tokens.weight", "embed.tokens.weight")),
    Only(one_table, Alias("decoder.embed_tokens.weight", "embed.tokens.weight")),
    Only(two_tables, Rename("encoder.embed_tokens.weight", "encoder.embed.tokens.weight")),
    Only(two_tables, Rename("decoder.embed_tokens.weight", "embed.tokens.weight")),
)
WORDS = (
    Constant("final_logits_bias", "outputs.words.shift"),
    Alias("lm_head.weight", "embed.tokens.weight"),
    Rename("lm_head.weight", "outputs.words.project.weight"),
)
HARMLESS = """
    add_bias_logits add_final_layer_norm classifier_dropout extra_pos_embeddings force_bos_token_to_be_generated
    id2label normalize_before normalize_embedding num_labels static_position_embeddings
"""
PUBLISHED = {
    "vocabulary": 37000, "width": 512, "depth": 6, "heads": 8,
    "embedding.scaled": True, "embedding.positions.size": 512, "feed.activation": "relu", "encoder.start": 0,
}  # fmt: skip
BIG = {"attention.dropout": 0.3, "feed.dropout": 0.3, "embedding.dropout": 0.3}
TRANSFORMER = Family(
    name="transformer",
    title="Transformer",
    year=2017,
    paper="Vaswani et al., Attention Is All You Need",
    parent=None,
    branch="encoder-decoder",
    adds="attention in place of recurrence; sinusoids for positions; an encoder, and a decoder that looks at it",
    model_type="marian",
    base=Spec(
        "transformer", vocabulary=58101, width=1024, depth=12, heads=16,
        embedding=Embedding(Sinusoid(1024, layout="halves")), attention=Attention(Causal(), weights_dropout=0.0),
        feed=FeedForward(), norm=LayerNorm(), encoder=Encoder(start=58100), initial=Initial(),
        outputs=Outputs(words=Words(projection=Tied(shift=True))),
    ),
    presets={
        "transformer-tiny": Preset({**PUBLISHED, "width": 128, "depth": 2, "heads": 2}, 5_792_768),
        "transformer-base": Preset(PUBLISHED, 63_606_784, "table 3, base; the paper says 65 million"),
        "transformer-big": Preset({**PUBLISHED, "width": 1024, "heads": 16, **BIG}, 215_293_952, "table 3, big; the paper says 213 million"),
    },
    outputs=Outputs(words=Words(projection=Tied(shift=True))),
    architectures=(("MarianModel", ()), ("MarianMTModel", ("words",))),
    settings=(
        Setting("vocab_size", "vocabulary", "encoder.vocabulary", unsaid=58101,
                codec=Told(lambda spec: spec.source.vocabulary)),
        Setting("decoder_vocab_size", "vocabulary", codec=OrSoFar()),
        Setting("share_encoder_decoder_embeddings", "encoder.vocabulary", codec=SHARED, unsaid=True),
        Setting("max_position_embeddings", "embedding.positions.size"),
        *SIDES,
    ),
    prefix="model.",
    trunk=(
        *TABLE,
        Constant("encoder.embed_positions.weight", "encoder.embed.positions.weight"),
        Constant("decoder.embed_positions.weight", "embed.positions.weight"),
        *LAYERS,
    ),
    heads=WORDS,
    harmless=frozenset(HARMLESS.split()),
    # What a file is read from with this id as padding, unless it says another.
    tells={"pad_token_id": 0, "eos_token_id": 0},
)  # fmt: skip
