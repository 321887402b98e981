"""BART and mBART: an encoder and a decoder trained to mend text that was damaged, in one language and in many."""

from bough.families.family import LABELS, Preset, grown
from bough.families.forms import Form, Pieces
from bough.families.roberta import ROBERTA
from bough.families.transformer import HARMLESS, TRANSFORMER
from bough.families.two_sides import LAYERS, SHARED, SIDES, TABLE, two_tables
from bough.keymap import Drop, Only, Rename, Shadow
from bough.settings import Refused, Setting, Where
from bough.spec import Classify, Embedding, Encoder, Last, LayerNorm, Learned, Outputs, PreNorm, Span

UNUSED = 2
"""The first rows of a table of positions, which no token takes; their files do not count them."""


def _rows(positions: object, rows: int) -> object:
    """How many rows a table has for so many positions."""
    if isinstance(positions, int) and not isinstance(positions, bool) and positions > 0:
        return positions + UNUSED
    return positions


SETTINGS = (
    Setting("vocab_size", "vocabulary", "encoder.vocabulary", unsaid=50265),
    # Where they tie nothing, neither do the two sides share their words.
    Setting("tie_word_embeddings", "encoder.vocabulary", codec=SHARED, unsaid=True),
    Setting("max_position_embeddings", "embedding.positions.size", codec=Where(_rows, lambda rows: rows - UNUSED)),
    *SIDES,
)
TRUNK = (
    *TABLE,
    Only(two_tables, Shadow("shared.weight", "embed.tokens.weight")),
    Rename("encoder.embed_positions.weight", "encoder.embed.positions.weight"),
    Rename("encoder.layernorm_embedding.{p}", "encoder.embed.norm.{p}"),
    Rename("decoder.embed_positions.weight", "embed.positions.weight"),
    Rename("decoder.layernorm_embedding.{p}", "embed.norm.{p}"),
    *LAYERS,
    Drop("encoder.version"),
    Drop("decoder.version"),
)
TINY = {"width": 128, "depth": 2, "heads": 2}
DROPPING = {"attention.weights_dropout": 0.1, "feed.inner_dropout": 0.1}
BART = grown(
    TRANSFORMER,
    name="bart",
    title="BART",
    year=2019,
    paper="Lewis et al., BART: Denoising Sequence-to-Sequence Pre-training for Natural Language Generation, "
    "Translation, and Comprehension",
    adds="damaged text mended as objective, for the encoder and the decoder alike; learned positions; byte-level BPE",
    model_type="bart",
    base=TRANSFORMER.base.but(
        family="bart", vocabulary=50265, encoder=Encoder(start=2),
        embedding=Embedding(Learned(1024 + UNUSED, UNUSED), norm=LayerNorm()),
    ),
    presets={
        "bart-tiny": Preset({**TINY, **DROPPING}, 7_622_784),
        "bart-base": Preset(
            {"width": 768, "depth": 6, "heads": 12, **DROPPING}, 139_420_416, "config of facebook/bart-base"
        ),
        "bart-large": Preset(DROPPING, 406_291_456, "config of facebook/bart-large"),
    },
    outputs=Outputs(
        words=TRANSFORMER.outputs.words,
        # The decoder reads the text again, so that its last token has seen all of it from both sides.
        classify=Classify(
            ("LABEL_0", "LABEL_1", "LABEL_2"), reads=Last(), hidden="tanh", hidden_dropout=0.0, dropout=0.0
        ),
        span=Span(),
    ),
    architectures=(
        ("BartModel", ()),
        ("BartForConditionalGeneration", ("words",)),
        ("BartForSequenceClassification", ("classify",)),
        ("BartForQuestionAnswering", ("span",)),
    ),
    settings=(
        *SETTINGS,
        Setting("classifier_dropout", "outputs.classify.hidden_dropout", "outputs.classify.dropout"),
        Refused("normalize_before", (None, False), "norms stand behind each sum here; those of mBART stand in front"),
        *LABELS,
    ),
    trunk=TRUNK,
    heads=(
        *TRANSFORMER.heads,
        Rename("classification_head.dense.{p}", "outputs.classify.hidden.{p}"),
        Rename("classification_head.out_proj.{p}", "outputs.classify.out.{p}"),
        Rename("qa_outputs.{p}", "outputs.span.out.{p}"),
    ),
    harmless=frozenset([*HARMLESS.split(), "classif_dropout", "save_step"]),
    tells={"pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2},
    text=ROBERTA.text,
)  # fmt: skip
LANGUAGES = """
    ar_AR cs_CZ de_DE en_XX es_XX et_EE fi_FI fr_XX gu_IN hi_IN it_IT ja_XX kk_KZ
    ko_KR lt_LT lv_LV my_MM ne_NP nl_XX ro_RO ru_RU si_LK tr_TR vi_VN zh_CN
"""
TEXT = Form(
    Pieces(shifted=True), ("MBartTokenizer",), "A eos language", "A B eos language", language="en_XX",
    first=("bos", "pad", "eos", "unk"), last=("further", "mask"), further=tuple(LANGUAGES.split()), eager=("mask",),
    unk="<unk>", pad="<pad>", cls="<s>", sep="</s>", mask="<mask>", bos="<s>", eos="</s>",
)  # fmt: skip
LARGE = {"vocabulary": 250027, "embedding.scaled": True}
MBART = grown(
    BART,
    name="mbart",
    title="mBART",
    year=2020,
    paper="Liu et al., Multilingual Denoising Pre-training for Neural Machine Translation",
    adds="twenty-five languages in one vocabulary, each said by a word of its own; norms in front, and one at the end",
    model_type="mbart",
    # Where a config names no word to start with, it is the one that begins a text.
    base=BART.base.but(family="mbart", encoder=Encoder(start=0), placement=PreNorm()),
    presets={
        "mbart-tiny": Preset({**LARGE, **TINY}, 33_192_832),
        "mbart-large": Preset(LARGE, 610_851_840, "config of facebook/mbart-large-cc25"),
    },
    outputs=TRANSFORMER.outputs,
    architectures=(("MBartModel", ()), ("MBartForConditionalGeneration", ("words",))),
    settings=(
        *SETTINGS,
        Refused("normalize_before", (None, True), "norms stand in front here; those of BART stand behind each sum"),
        Refused(
            "architectures", (None, [], ["MBartModel"], ["MBartForConditionalGeneration"]),
            "its other heads read a text whose last word is moved to the front, which is not done here",
        ),
    ),
    trunk=(
        *TRUNK,
        Rename("encoder.layer_norm.{p}", "encoder.norm.{p}"),
        Rename("decoder.layer_norm.{p}", "norm.{p}"),
    ),
    heads=TRANSFORMER.heads,
    text=TEXT,
)  # fmt: skip
"""Its decoder starts with the word of a language, which differs from text to text: give what it reads as targets.

Their classes, where nothing is given, take a text's last word for it; here it stands behind the start as everywhere.
"""
