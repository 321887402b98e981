"""BERT: the encoder alone, trained to fill in masked words and to tell whether one sentence follows another."""

from bough.families.family import ACTIVATIONS, LABELS, Family, Preset
from bough.families.forms import Form, WordPiece
from bough.families.words import Cleaned
from bough.keymap import Alias, Drop, Fuse, Rename, Shadow
from bough.settings import INNER, Choice, OrSoFar, Refused, Setting, Switch
from bough.spec import (
    Attention,
    Causal,
    Classify,
    Embedding,
    FeedForward,
    Full,
    LayerNorm,
    Learned,
    Outputs,
    Pair,
    Pooler,
    Span,
    Spec,
    Tag,
    Tied,
    Transform,
    Untied,
    Words,
)

NORM = LayerNorm(1e-12)
LAYER = "encoder.layer.{i}."

SETTINGS = (
    Setting("vocab_size", "vocabulary"),
    Setting("hidden_size", "width"),
    Setting("num_hidden_layers", "depth"),
    Setting("num_attention_heads", "heads"),
    Setting("intermediate_size", "feed.inner", codec=INNER, unsaid=3072),
    Setting("max_position_embeddings", "embedding.positions.size"),
    Setting("type_vocab_size", "embedding.segments"),
    Setting("hidden_act", "feed.activation", "outputs.words.transform.activation", codec=ACTIVATIONS),
    Setting("layer_norm_eps", "norm.epsilon", "embedding.norm.epsilon", "outputs.words.transform.norm.epsilon"),
    Setting("attention_probs_dropout_prob", "attention.weights_dropout"),
    Setting(
        "hidden_dropout_prob",
        *("attention.dropout", "feed.dropout", "embedding.dropout", "outputs.classify.dropout", "outputs.tag.dropout"),
    ),
    Setting("classifier_dropout", "outputs.classify.dropout", "outputs.tag.dropout", codec=OrSoFar()),
    Setting("initializer_range", "initial.std"),
    Setting("is_decoder", "attention.mask", codec=Choice(((False, Full()), (True, Causal())))),
    Setting("tie_word_embeddings", "outputs.words.projection", codec=Switch(off=Untied, on=Tied)),
    Refused("add_cross_attention", (False, None), "this family has no encoder to look at"),
    Refused("position_embedding_type", ("absolute", None), "only absolute positions are published for this family"),
    *LABELS,
)
TRUNK = (
    Rename("embeddings.word_embeddings.weight", "embed.tokens.weight"),
    Rename("embeddings.position_embeddings.weight", "embed.positions.weight"),
    Rename("embeddings.token_type_embeddings.weight", "embed.segments.weight"),
    Rename("embeddings.LayerNorm.{p}", "embed.norm.{p}"),
    Drop("embeddings.position_ids"),
    Fuse(tuple(LAYER + f"attention.self.{x}.{{p}}" for x in ("query", "key", "value")), "blocks.{i}.attention.qkv.{p}"),
    Rename(LAYER + "attention.output.dense.{p}", "blocks.{i}.attention.out.{p}"),
    Rename(LAYER + "attention.output.LayerNorm.{p}", "blocks.{i}.attention_norm.{p}"),
    Rename(LAYER + "intermediate.dense.{p}", "blocks.{i}.feed.up.{p}"),
    Rename(LAYER + "output.dense.{p}", "blocks.{i}.feed.down.{p}"),
    Rename(LAYER + "output.LayerNorm.{p}", "blocks.{i}.feed_norm.{p}"),
    Rename("pooler.dense.{p}", "outputs.pooler.dense.{p}"),
)
BASE = Spec(
    "bert", vocabulary=30522, width=768, depth=12, heads=12,
    embedding=Embedding(Learned(512), segments=2, norm=NORM),
    attention=Attention(), feed=FeedForward(), norm=NORM,
    outputs=Outputs(words=Words(Transform(norm=NORM), Tied(bias=True))),
)  # fmt: skip
TEXT = Form(
    WordPiece(Cleaned()), ("BertTokenizer", "DistilBertTokenizer"), "cls A sep", "cls A sep B:1 sep:1",
    first=("pad", "unk", "cls", "sep", "mask"), unk="[UNK]", pad="[PAD]", cls="[CLS]", sep="[SEP]", mask="[MASK]",
)  # fmt: skip
BERT = Family(
    name="bert",
    title="BERT",
    year=2018,
    paper="Devlin et al., BERT: Pre-training of Deep Bidirectional Transformers for Language Understanding",
    parent="transformer",
    branch="encoder",
    adds="the encoder alone; masked words and next sentence as objectives; segments",
    model_type="bert",
    base=BASE,
    presets={
        "bert-tiny": Preset({"width": 128, "depth": 2, "heads": 2}, 4_416_698),
        "bert-base": Preset({}, 109_514_298, "config of bert-base-uncased"),
        "bert-large": Preset({"width": 1024, "depth": 24, "heads": 16}, 335_174_458, "config of bert-large-uncased"),
    },
    outputs=Outputs(Pooler(), Words(Transform(norm=NORM), Tied(bias=True)), Pair(), Classify(), Tag(), Span()),
    architectures=(
        ("BertModel", ()),
        ("BertModel", ("pooler",)),
        ("BertForMaskedLM", ("words",)),
        ("BertForPreTraining", ("pooler", "words", "pair")),
        ("BertForNextSentencePrediction", ("pooler", "pair")),
        ("BertForSequenceClassification", ("pooler", "classify")),
        ("BertForTokenClassification", ("tag",)),
        ("BertForQuestionAnswering", ("span",)),
        ("BertLMHeadModel", ("words",)),
    ),
    settings=SETTINGS,
    prefix="bert.",
    trunk=TRUNK,
    heads=(
        Rename("cls.predictions.transform.dense.{p}", "outputs.words.transform.{p}"),
        Rename("cls.predictions.transform.LayerNorm.{p}", "outputs.words.norm.{p}"),
        Rename("cls.predictions.bias", "outputs.words.bias"),
        Alias("cls.predictions.decoder.bias", "outputs.words.bias"),
        Alias("cls.predictions.decoder.weight", "embed.tokens.weight"),
        Rename("cls.predictions.decoder.{p}", "outputs.words.project.{p}"),
        Shadow("cls.predictions.bias", "outputs.words.project.bias"),
        Rename("cls.seq_relationship.{p}", "outputs.pair.out.{p}"),
        Rename("classifier.{p}", "outputs.classify.out.{p}"),
        Rename("classifier.{p}", "outputs.tag.out.{p}"),
        Rename("qa_outputs.{p}", "outputs.span.out.{p}"),
    ),
    tells={"pad_token_id": 0},
    text=TEXT,
)
