"""DistilBERT: every other layer of BERT, taught by the whole of it; no segments, no pooler."""

from bough.families.bert import BERT
from bough.families.family import ACTIVATIONS, LABELS, Preset, grown
from bough.keymap import Alias, Drop, Fuse, Rename
from bough.settings import INNER, Setting, Switch
from bough.spec import Attention, Classify, First, Learned, Outputs, Sinusoid, Span, Tag, Tied, Untied

LAYER = "transformer.layer.{i}."

DISTILBERT = grown(
    BERT,
    name="distilbert",
    title="DistilBERT",
    year=2019,
    paper="Sanh et al., DistilBERT, a distilled version of BERT: smaller, faster, cheaper and lighter",
    adds="half the layers, taught by the teacher's soft targets and hidden states; segments and pooler left out",
    model_type="distilbert",
    base=BERT.base.but(
        family="distilbert",
        depth=6,
        attention=Attention(dropout=0.0),
        **{"embedding.segments": 0},
    ),
    presets={
        "distilbert-tiny": Preset({"width": 128, "depth": 2, "heads": 2}, 4_416_442),
        "distilbert-base": Preset({}, 66_985_530, "config of distilbert-base-uncased"),
    },
    outputs=Outputs(
        words=BERT.outputs.words,
        classify=Classify(reads=First(), hidden="relu", dropout=0.2),
        tag=Tag(),
        span=Span(dropout=0.1),
    ),
    architectures=(
        ("DistilBertModel", ()),
        ("DistilBertForMaskedLM", ("words",)),
        ("DistilBertForSequenceClassification", ("classify",)),
        ("DistilBertForTokenClassification", ("tag",)),
        ("DistilBertForQuestionAnswering", ("span",)),
    ),
    settings=(
        Setting("vocab_size", "vocabulary"),
        Setting("dim", "width", also=("hidden_size",)),
        Setting("n_layers", "depth", also=("num_hidden_layers",)),
        Setting("n_heads", "heads", also=("num_attention_heads",)),
        Setting("hidden_dim", "feed.inner", codec=INNER, also=("intermediate_size",), unsaid=3072),
        Setting("sinusoidal_pos_embds", "embedding.positions", codec=Switch(off=Learned, on=Sinusoid)),
        Setting("max_position_embeddings", "embedding.positions.size"),
        Setting("activation", "feed.activation", "outputs.words.transform.activation", codec=ACTIVATIONS),
        Setting("attention_dropout", "attention.weights_dropout"),
        Setting("dropout", "feed.dropout", "embedding.dropout", "outputs.tag.dropout"),
        Setting("seq_classif_dropout", "outputs.classify.dropout"),
        Setting("qa_dropout", "outputs.span.dropout"),
        Setting("initializer_range", "initial.std"),
        Setting("tie_word_embeddings", "outputs.words.projection", codec=Switch(off=Untied, on=Tied)),
        *LABELS,
    ),
    prefix="distilbert.",
    trunk=(
        Rename("embeddings.word_embeddings.weight", "embed.tokens.weight"),
        Rename("embeddings.position_embeddings.weight", "embed.positions.weight"),
        Rename("embeddings.LayerNorm.{p}", "embed.norm.{p}"),
        Drop("embeddings.position_ids"),
        Fuse(tuple(LAYER + f"attention.{x}_lin.{{p}}" for x in "qkv"), "blocks.{i}.attention.qkv.{p}"),
        Rename(LAYER + "attention.out_lin.{p}", "blocks.{i}.attention.out.{p}"),
        Rename(LAYER + "sa_layer_norm.{p}", "blocks.{i}.attention_norm.{p}"),
        Rename(LAYER + "ffn.lin1.{p}", "blocks.{i}.feed.up.{p}"),
        Rename(LAYER + "ffn.lin2.{p}", "blocks.{i}.feed.down.{p}"),
        Rename(LAYER + "output_layer_norm.{p}", "blocks.{i}.feed_norm.{p}"),
    ),
    heads=(
        Rename("vocab_transform.{p}", "outputs.words.transform.{p}"),
        Rename("vocab_layer_norm.{p}", "outputs.words.norm.{p}"),
        Rename("vocab_projector.bias", "outputs.words.bias"),
        Alias("vocab_projector.weight", "embed.tokens.weight"),
        Rename("vocab_projector.{p}", "outputs.words.project.{p}"),
        Rename("pre_classifier.{p}", "outputs.classify.hidden.{p}"),
        Rename("classifier.{p}", "outputs.classify.out.{p}"),
        Rename("classifier.{p}", "outputs.tag.out.{p}"),
        Rename("qa_outputs.{p}", "outputs.span.out.{p}"),
    ),
    harmless=frozenset({"tie_weights_"}),
)
