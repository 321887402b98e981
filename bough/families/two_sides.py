"""What the families of two sides call their settings and tensors alike: the files of Marian, BART and mBART."""

from bough.families.family import ACTIVATIONS
from bough.keymap import Alias, Constant, Fuse, Only, Rename
from bough.record import brief
from bough.settings import INNER, OrSoFar, Refused, Setting, Switch, Told, Where
from bough.spec import Spec, Tied, Untied

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
