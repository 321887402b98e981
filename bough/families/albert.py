"""ALBERT: BERT with one block run at every depth and narrow tables; sentence order in place of next sentence."""

from bough.families.bert import BERT, SETTINGS
from bough.families.family import Preset, grown
from bough.families.forms import Form, Pieces
from bough.keymap import Alias, Drop, Fuse, Rename, Shadow
from bough.settings import INNER, Refused, Setting
from bough.spec import Classify, Groups, Outputs, Pair, Pooler, Span, Tag, Tied, Transform, Words

LAYER = "encoder.albert_layer_groups.{g}.albert_layers.{j}."
HEADS = ("outputs.classify.dropout", "outputs.tag.dropout", "outputs.pair.dropout")
WORDS = Words(Transform("gelu_tanh", BERT.base.norm), Tied(bias=True))
NOT_ITS_OWN = ("intermediate_size", "classifier_dropout", "is_decoder", "hidden_dropout_prob", "add_cross_attention")

TEXT = Form(
    Pieces(quotes=True, strip_accents=True, lowercase=True), ("AlbertTokenizer",), "cls A sep", "cls A sep B:1 sep:1",
    first=("pad", "unk", "cls", "sep", "mask"),
    unk="<unk>", pad="<pad>", cls="[CLS]", sep="[SEP]", mask="[MASK]", bos="[CLS]", eos="[SEP]",
)  # fmt: skip

ALBERT = grown(
    BERT,
    name="albert",
    title="ALBERT",
    year=2019,
    paper="Lan et al., ALBERT: A Lite BERT for Self-supervised Learning of Language Representations",
    adds="blocks shared by depth, tables of width 128 projected to the trunk's, sentence order as objective",
    model_type="albert",
    base=BERT.base.but(
        family="albert",
        vocabulary=30000,
        width=4096,
        heads=64,
        sharing=Groups(groups=1, inner=1),
        outputs=Outputs(words=WORDS),
        **{"embedding.width": 128, "embedding.dropout": 0, "feed.activation": "gelu_tanh", "feed.dropout": 0},
        **{"attention.weights_dropout": 0, "attention.dropout": 0},
    ),
    presets={
        "albert-tiny": Preset({"width": 128, "depth": 2, "heads": 2}, 4_167_600),
        "albert-base": Preset({"width": 768, "heads": 12}, 11_221_680, "config of albert-base-v2"),
        "albert-large": Preset({"width": 1024, "depth": 24, "heads": 16}, 16_795_824, "config of albert-large-v2"),
        "albert-xlarge": Preset({"width": 2048, "depth": 24, "heads": 16}, 54_821_040, "config of albert-xlarge-v2"),
        "albert-xxlarge": Preset({}, 206_368_944, "config of albert-xxlarge-v2"),
    },
    outputs=Outputs(Pooler(), WORDS, Pair(dropout=0.1), Classify(), Tag(), Span()),
    architectures=(
        ("AlbertModel", ()),
        ("AlbertModel", ("pooler",)),
        ("AlbertForMaskedLM", ("words",)),
        ("AlbertForPreTraining", ("pooler", "words", "pair")),
        ("AlbertForSequenceClassification", ("pooler", "classify")),
        ("AlbertForTokenClassification", ("tag",)),
        ("AlbertForQuestionAnswering", ("span",)),
    ),
    settings=(
        *(rule for rule in SETTINGS if rule.key not in NOT_ITS_OWN),
        Setting("intermediate_size", "feed.inner", codec=INNER, unsaid=16384),
        Setting("embedding_size", "embedding.width"),
        Setting("num_hidden_groups", "sharing.groups"),
        Setting("inner_group_num", "sharing.inner"),
        Setting("hidden_dropout_prob", "attention.dropout", "feed.dropout", "embedding.dropout"),
        Setting("classifier_dropout_prob", *HEADS),
        Refused("is_decoder", (False, None), "this family has no causal form"),
        Refused("net_structure_type", (0, None), "only the published structure is known"),
        Refused("num_memory_blocks", (0, None), "only the published structure is known"),
    ),
    prefix="albert.",
    trunk=(
        Rename("embeddings.word_embeddings.weight", "embed.tokens.weight"),
        Rename("embeddings.position_embeddings.weight", "embed.positions.weight"),
        Rename("embeddings.token_type_embeddings.weight", "embed.segments.weight"),
        Rename("embeddings.LayerNorm.{p}", "embed.norm.{p}"),
        Drop("embeddings.position_ids"),
        Rename("encoder.embedding_hidden_mapping_in.{p}", "embed.project.{p}"),
        Fuse(tuple(LAYER + f"attention.{x}.{{p}}" for x in ("query", "key", "value")), "blocks.{i}.attention.qkv.{p}"),
        Rename(LAYER + "attention.dense.{p}", "blocks.{i}.attention.out.{p}"),
        Rename(LAYER + "attention.LayerNorm.{p}", "blocks.{i}.attention_norm.{p}"),
        Rename(LAYER + "ffn.{p}", "blocks.{i}.feed.up.{p}"),
        Rename(LAYER + "ffn_output.{p}", "blocks.{i}.feed.down.{p}"),
        Rename(LAYER + "full_layer_layer_norm.{p}", "blocks.{i}.feed_norm.{p}"),
        Rename("pooler.{p}", "outputs.pooler.dense.{p}"),
    ),
    heads=(
        Rename("predictions.dense.{p}", "outputs.words.transform.{p}"),
        Rename("predictions.LayerNorm.{p}", "outputs.words.norm.{p}"),
        Rename("predictions.bias", "outputs.words.bias"),
        Alias("predictions.decoder.bias", "outputs.words.bias"),
        Alias("predictions.decoder.weight", "embed.tokens.weight"),
        Rename("predictions.decoder.{p}", "outputs.words.project.{p}"),
        Shadow("predictions.bias", "outputs.words.project.bias"),
        Rename("sop_classifier.classifier.{p}", "outputs.pair.out.{p}"),
        Rename("classifier.{p}", "outputs.classify.out.{p}"),
        Rename("classifier.{p}", "outputs.tag.out.{p}"),
        Rename("qa_outputs.{p}", "outputs.span.out.{p}"),
    ),
    harmless=frozenset({"down_scale_factor", "gap_size"}),
    tells={},
    text=TEXT,
)
