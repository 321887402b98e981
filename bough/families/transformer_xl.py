"""Transformer-XL: a decoder whose layers read the last stretch again; distances in place of positions."""

from typing import Any

from bough.families.family import LABELS, Family, Preset
from bough.families.forms import Form, Whole
from bough.families.words import MosesWords
from bough.keymap import Alias, Drop, Only, Rename
from bough.settings import INNER, Choice, Listed, OrSoFar, Refused, Setting, Told, Where
from bough.spec import (
    Attention,
    Causal,
    Classify,
    Clustered,
    Clusters,
    Embedding,
    FeedForward,
    Last,
    LayerNorm,
    Mask,
    Outputs,
    PostNorm,
    PreNorm,
    Recurrence,
    RelativeTerms,
    Spec,
    Window,
    Words,
)

SHARES = Where(lambda tied, _: not tied, lambda tied: not tied)
NORMS = Choice(((False, PostNorm()), (True, PreNorm(last=False))))
HARMLESS = """
    adaptive ext_len init init_range proj_init_std proj_share_all_but_first tgt_len tie_weight trainer_compatible
"""


def _same_length(same: Any, mask: Mask) -> Mask:
    """Where every token sees as many, that is a window as long as the memory."""
    return (mask if isinstance(mask, Window) else Window()) if same else Causal()


def _one_table(spec: Spec) -> bool:
    return spec.embedding.clusters is not None and spec.embedding.clusters.factor == 1


def _many_tables(spec: Spec) -> bool:
    return not _one_table(spec)


WORDS = Words(projection=Clustered(projects=(False, True, True, True)))
TRANSFORMER_XL = Family(
    name="transformer-xl",
    title="Transformer-XL",
    year=2019,
    paper="Dai et al., Transformer-XL: Attentive Language Models beyond a Fixed-Length Context",
    parent="transformer",
    branch="decoder",
    adds="layers that read again what they read of the last stretch; distances for positions; rare words in clusters",
    model_type="transfo-xl",
    base=Spec(
        "transformer-xl", vocabulary=267735, width=1024, depth=18, heads=16,
        embedding=Embedding(None, scaled=True, clusters=Clusters()),
        attention=Attention(
            Window(1600), relative=RelativeTerms(clamp=1000), bias=False, out_bias=False, weights_dropout=0.0
        ),
        feed=FeedForward(activation="relu", inner_dropout=0.1), norm=LayerNorm(), dropout=0.1,
        recurrence=Recurrence(), outputs=Outputs(words=WORDS),
    ),
    presets={
        "transformer-xl-tiny": Preset({
            "width": 128, "depth": 2, "heads": 2, "vocabulary": 10000, "embedding.clusters.cutoffs": (2000, 5000),
            "recurrence.length": 64, "attention.mask.size": 64, "attention.relative.clamp": 64,
        }, 868_946),
        "transformer-xl": Preset({}, 285_205_322, "config of transfo-xl-wt103"),
    },
    outputs=Outputs(words=WORDS, classify=Classify(reads=Last(), bias=False, dropout=0.0)),
    architectures=(
        ("TransfoXLModel", ()),
        ("TransfoXLLMHeadModel", ("words",)),
        ("TransfoXLForSequenceClassification", ("classify",)),
    ),
    settings=(
        Setting("vocab_size", "vocabulary", also=("n_token",)),
        Setting("cutoffs", "embedding.clusters.cutoffs", codec=Listed()),
        Setting("div_val", "embedding.clusters.factor"),
        Setting("d_model", "width", also=("hidden_size",)),
        Setting("d_embed", "embedding.width", codec=Told(lambda spec: spec.table_width), unsaid=1024),
        Setting("n_layer", "depth", also=("num_hidden_layers",)),
        Setting("n_head", "heads", also=("num_attention_heads",)),
        Setting("d_head", "attention.width", codec=Told(lambda spec: spec.head_width), unsaid=64),
        Setting("d_inner", "feed.inner", codec=INNER, unsaid=4096),
        Setting("pre_lnorm", "placement", codec=NORMS),
        Setting("layer_norm_epsilon", "norm.epsilon"),
        Setting("same_length", "attention.mask", codec=Where(_same_length, lambda mask: isinstance(mask, Window))),
        Setting("mem_len", "recurrence.length", "attention.mask.size"),
        Setting("clamp_len", "attention.relative.clamp", codec=Where(lambda n, _: max(n, 0), lambda n: n or -1)),
        Setting("untie_r", "attention.relative.tied", codec=SHARES),
        Setting("dropatt", "attention.weights_dropout"),
        Setting("dropout", "embedding.dropout", "attention.dropout", "feed.inner_dropout", "feed.dropout", "dropout"),
        Setting("init_std", "initial.std"),
        Setting("tie_word_embeddings", "outputs.words.projection.tied"),
        Setting("tie_projs", "outputs.words.projection.projects", codec=OrSoFar(Listed())),
        Refused("attn_type", (0, None), "the other kinds were never published"),
        Refused("sample_softmax", (-1, 0, None), "scores are of all words"),
        *LABELS,
    ),
    prefix="transformer.",
    trunk=(
        Rename("word_emb.emb_layers.{i}.weight", "embed.tokens.tables.{i}.weight"),
        Rename("word_emb.emb_projs.{i}", "embed.tokens.projects.{i}.weight"),
        Drop("pos_emb.inv_freq"),
        Rename("r_w_bias", "relative.content"),
        Rename("r_r_bias", "relative.position"),
        Alias("layers.{i}.dec_attn.r_w_bias", "relative.content"),
        Alias("layers.{i}.dec_attn.r_r_bias", "relative.position"),
        Rename("layers.{i}.dec_attn.r_w_bias", "blocks.{i}.attention.relative.content"),
        Rename("layers.{i}.dec_attn.r_r_bias", "blocks.{i}.attention.relative.position"),
        Rename("layers.{i}.dec_attn.r_net.weight", "blocks.{i}.attention.relative.project.weight"),
        Rename("layers.{i}.dec_attn.qkv_net.weight", "blocks.{i}.attention.qkv.weight"),
        Rename("layers.{i}.dec_attn.o_net.weight", "blocks.{i}.attention.out.weight"),
        Rename("layers.{i}.dec_attn.layer_norm.{p}", "blocks.{i}.attention_norm.{p}"),
        Rename("layers.{i}.pos_ff.CoreNet.0.{p}", "blocks.{i}.feed.up.{p}"),
        Rename("layers.{i}.pos_ff.CoreNet.3.{p}", "blocks.{i}.feed.down.{p}"),
        Rename("layers.{i}.pos_ff.layer_norm.{p}", "blocks.{i}.feed_norm.{p}"),
    ),
    heads=(
        Rename("crit.cluster_weight", "outputs.words.clusters.weight"),
        Rename("crit.cluster_bias", "outputs.words.clusters.bias"),
        Rename("crit.out_layers.{i}.{p}", "outputs.words.tables.{i}.{p}"),
        Alias("crit.out_layers.{i}.weight", "embed.tokens.tables.{i}.weight"),
        Rename("crit.out_projs.{i}", "outputs.words.projects.{i}.weight"),
        Only(_one_table, Alias("crit.out_projs.{i}", "embed.tokens.projects.0.weight")),
        Only(_many_tables, Alias("crit.out_projs.{i}", "embed.tokens.projects.{i}.weight")),
        Rename("score.weight", "outputs.classify.out.weight"),
    ),
    harmless=frozenset(HARMLESS.split()),
    text=Form(
        Whole(MosesWords()), ("TransfoXLTokenizer",),
        first=("eos", "unk"), further=("<formula>",), unk="<unk>", eos="<eos>",
    ),
)  # fmt: skip
