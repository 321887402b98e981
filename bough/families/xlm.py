"""XLM: one encoder for many languages, by masked or causal words over parallel text; tokens may carry a language."""

from typing import Any

from bough.families.bert import BERT
from bough.families.family import LABELS, Preset, grown
from bough.families.forms import Form, Suffixed
from bough.families.words import XlmWords
from bough.keymap import Alias, Drop, Fuse, Rename
from bough.record import brief
from bough.settings import Choice, Listed, Refused, Setting, Switch, Where
from bough.spec import (
    Adaptive,
    Causal,
    Classify,
    First,
    Full,
    Last,
    Learned,
    Mean,
    Outputs,
    Sinusoid,
    Span,
    Tag,
    Tied,
    Untied,
    Words,
)

WORDS = Words(projection=Tied(bias=True))
TIE = Switch(off=Untied, on=Tied)
READS = (("first", First()), ("last", Last()), ("cls_index", Last()), ("mean", Mean()))


def _adaptive(asm: Any, current: Tied | Untied | Adaptive) -> Tied | Untied | Adaptive:
    if not isinstance(asm, bool):
        raise ValueError(f"must be true or false, not {brief(asm)}")
    return Adaptive() if asm else current


def _tied(projection: Tied | Untied | Adaptive) -> bool:
    return isinstance(projection, Tied)


HARMLESS = """
    adam_eps bos_index end_n_top eos_index id2lang is_decoder lang2id lang_id mask_index mask_token_id max_vocab
    min_count pad_index same_enc_dec share_inout_emb start_n_top unk_index
"""
TEXT = Form(
    Suffixed(XlmWords()), ("XLMTokenizer",), "bos A sep", "bos A sep B:1 sep:1",
    first=("bos", "sep", "pad", "unk", "further"), further=tuple(f"<special{n}>" for n in range(10)),
    unk="<unk>", pad="<pad>", cls="</s>", sep="</s>", mask="<special1>", bos="<s>",
)  # fmt: skip
SUMMARIES = ((None, "identity"), ("tanh", "tanh"), ("relu", "relu"), ("gelu", "gelu"), ("linear", "identity"))
XLM = grown(
    BERT,
    name="xlm",
    title="XLM",
    year=2019,
    paper="Lample and Conneau, Cross-lingual Language Model Pretraining",
    adds="one vocabulary and one trunk for many languages, language vectors, masked words across translations",
    model_type="xlm",
    base=BERT.base.but(
        family="xlm",
        vocabulary=30145,
        width=2048,
        heads=16,
        outputs=Outputs(words=WORDS),
        **{"embedding.segments": 0, "initial.tables": 2048**-0.5},
    ),
    presets={
        "xlm-tiny": Preset({"width": 128, "depth": 2, "heads": 2}, 4_351_041),
        "xlm-mlm-en-2048": Preset({}, 667_119_041, "config of xlm-mlm-en-2048"),
        "xlm-mlm-100-1280": Preset(
            {"vocabulary": 200000, "width": 1280, "depth": 16}, 571_696_960, "config of xlm-mlm-100-1280"
        ),
    },
    outputs=Outputs(words=WORDS, classify=Classify(reads=First()), tag=Tag(), span=Span()),
    architectures=(
        ("XLMModel", ()),
        ("XLMWithLMHeadModel", ("words",)),
        ("XLMForSequenceClassification", ("classify",)),
        ("XLMForTokenClassification", ("tag",)),
        ("XLMForQuestionAnsweringSimple", ("span",)),
    ),
    settings=(
        Setting("vocab_size", "vocabulary", also=("n_words",)),
        Setting("emb_dim", "width", also=("hidden_size",)),
        Setting("n_layers", "depth", also=("num_hidden_layers",)),
        Setting("n_heads", "heads", also=("num_attention_heads",)),
        Setting("sinusoidal_embeddings", "embedding.positions", codec=Switch(off=Learned, on=Sinusoid)),
        Setting("max_position_embeddings", "embedding.positions.size"),
        Setting("n_langs", "embedding.languages", codec=Where(lambda n, _: 0 if n == 1 else n, lambda n: n or 1)),
        Setting("use_lang_emb", "embedding.languages", codec=Where(lambda on, n: n if on else 0, lambda _: True)),
        Setting("gelu_activation", "feed.activation", codec=Choice(((True, "gelu"), (False, "relu")))),
        Setting("causal", "attention.mask", codec=Choice(((False, Full()), (True, Causal())))),
        Setting("layer_norm_eps", "norm.epsilon", "embedding.norm.epsilon"),
        Setting("attention_dropout", "attention.weights_dropout"),
        Setting("dropout", "attention.dropout", "feed.dropout", "embedding.dropout", "outputs.tag.dropout"),
        Setting("init_std", "initial.std"),
        Setting("embed_init_std", "initial.tables"),
        Setting("tie_word_embeddings", "outputs.words.projection", codec=Where(TIE.read, _tied)),
        Setting("asm", "outputs.words.projection", codec=Where(_adaptive, lambda p: isinstance(p, Adaptive))),
        Setting("asm_cutoffs", "outputs.words.projection.cutoffs", codec=Listed()),
        Setting("asm_div_value", "outputs.words.projection.factor"),
        Setting("summary_type", "outputs.classify.reads", codec=Choice(READS)),
        Setting("summary_activation", "outputs.classify.activation", codec=Choice(SUMMARIES)),
        Setting("summary_first_dropout", "outputs.classify.dropout"),
        Refused("summary_last_dropout", (None, 0, 0.0), "scores are not dropped"),
        Refused("summary_use_proj", (True, None), "a classification head is always a projection"),
        Refused("summary_proj_to_labels", (True, None), "a classification head always projects to its labels"),
        Refused("is_encoder", (True, None), "its decoder was never published"),
        *LABELS,
    ),
    prefix="transformer.",
    trunk=(
        Rename("embeddings.weight", "embed.tokens.weight"),
        Rename("position_embeddings.weight", "embed.positions.weight"),
        Rename("lang_embeddings.weight", "embed.languages.weight"),
        Rename("layer_norm_emb.{p}", "embed.norm.{p}"),
        Drop("position_ids"),
        Fuse(tuple(f"attentions.{{i}}.{x}_lin.{{p}}" for x in "qkv"), "blocks.{i}.attention.qkv.{p}"),
        Rename("attentions.{i}.out_lin.{p}", "blocks.{i}.attention.out.{p}"),
        Rename("layer_norm1.{i}.{p}", "blocks.{i}.attention_norm.{p}"),
        Rename("ffns.{i}.lin1.{p}", "blocks.{i}.feed.up.{p}"),
        Rename("ffns.{i}.lin2.{p}", "blocks.{i}.feed.down.{p}"),
        Rename("layer_norm2.{i}.{p}", "blocks.{i}.feed_norm.{p}"),
    ),
    heads=(
        Rename("pred_layer.proj.bias", "outputs.words.bias"),
        Alias("pred_layer.proj.weight", "embed.tokens.weight"),
        Rename("pred_layer.proj.{p}", "outputs.words.project.{p}"),
        Rename("pred_layer.proj.head.{p}", "outputs.words.adaptive.head.{p}"),
        *(
            Rename(f"pred_layer.proj.tail.{n}.{k}.weight", f"outputs.words.adaptive.tail.{n}.{k}.weight")
            for n in range(16)
            for k in range(2)
        ),
        Rename("sequence_summary.summary.{p}", "outputs.classify.out.{p}"),
        Rename("classifier.{p}", "outputs.tag.out.{p}"),
        Rename("qa_outputs.{p}", "outputs.span.out.{p}"),
    ),
    harmless=frozenset(HARMLESS.split()),
    tells={},
    text=TEXT,
)
