"""RoBERTa and XLM-RoBERTa: BERT trained longer on masked words alone, in one language and in a hundred."""

from bough.families.bert import BERT, SETTINGS
from bough.families.family import Preset, grown
from bough.families.forms import Bytes, Form, Pieces
from bough.keymap import Alias, Rename, Shadow
from bough.record import brief
from bough.settings import Refused, Setting, Where
from bough.spec import Classify, First, Learned, Outputs, Pooler, Span, Tag, Tied, Transform, Words

NORM = BERT.base.norm
PUBLISHED = {
    "embedding.positions.size": 514,
    "embedding.segments": 1,
    "norm.epsilon": 1e-5,
    "embedding.norm.epsilon": 1e-5,
    "outputs.words.transform.norm.epsilon": 1e-5,
}


def _after_padding(pad: object, current: int) -> object:
    """Positions begin behind the padding token's id: the rows up to it were never used."""
    if pad is None:
        return current
    if not isinstance(pad, int) or isinstance(pad, bool):
        raise ValueError(f"must be a whole number, not {brief(pad)}")
    return pad + 1


def _in_roberta(rule: Setting | Refused) -> Setting | Refused:
    """BERT's rule as its heads here have it: one more dropout, and gelu before the words whatever the trunk has."""
    match rule:
        case Setting(key="hidden_dropout_prob" | "classifier_dropout"):
            return Setting(rule.key, *rule.paths, "outputs.classify.hidden_dropout", codec=rule.codec)
        case Setting(key="hidden_act"):
            return Setting(rule.key, "feed.activation", codec=rule.codec)
        case _:
            return rule


TEXT = Form(
    Bytes(trimmed=True), ("RobertaTokenizer", "BartTokenizer"), "cls A sep", "cls A sep sep B sep",
    first=("cls", "pad", "sep", "unk"), last=("mask",),
    unk="<unk>", pad="<pad>", cls="<s>", sep="</s>", mask="<mask>", bos="<s>", eos="</s>",
)  # fmt: skip
ROBERTA = grown(
    BERT,
    name="roberta",
    title="RoBERTa",
    year=2019,
    paper="Liu et al., RoBERTa: A Robustly Optimized BERT Pretraining Approach",
    adds="masked words only, masks drawn anew, more data; byte-level BPE; positions start behind padding's id",
    model_type="roberta",
    base=BERT.base.but(family="roberta", vocabulary=50265, **{"embedding.positions": Learned(512, offset=2)}),
    presets={
        "roberta-tiny": Preset({"width": 128, "depth": 2, "heads": 2, **PUBLISHED}, 6_963_673),
        "roberta-base": Preset(PUBLISHED, 124_697_433, "config of roberta-base"),
        "roberta-large": Preset(
            {"width": 1024, "depth": 24, "heads": 16, **PUBLISHED}, 355_412_057, "config of roberta-large"
        ),
    },
    outputs=Outputs(
        pooler=Pooler(),
        words=Words(Transform(norm=NORM), Tied(bias=True)),
        classify=Classify(reads=First(), hidden="tanh", hidden_dropout=0.1),
        tag=Tag(),
        span=Span(),
    ),
    architectures=(
        ("RobertaModel", ()),
        ("RobertaModel", ("pooler",)),
        ("RobertaForMaskedLM", ("words",)),
        ("RobertaForSequenceClassification", ("classify",)),
        ("RobertaForTokenClassification", ("tag",)),
        ("RobertaForQuestionAnswering", ("span",)),
        ("RobertaForCausalLM", ("words",)),
    ),
    settings=(
        *(_in_roberta(rule) for rule in SETTINGS),
        Setting("pad_token_id", "embedding.positions.offset", codec=Where(_after_padding, lambda offset: offset - 1)),
    ),
    prefix="roberta.",
    heads=(
        Rename("lm_head.dense.{p}", "outputs.words.transform.{p}"),
        Rename("lm_head.layer_norm.{p}", "outputs.words.norm.{p}"),
        Rename("lm_head.bias", "outputs.words.bias"),
        Alias("lm_head.decoder.bias", "outputs.words.bias"),
        Alias("lm_head.decoder.weight", "embed.tokens.weight"),
        Rename("lm_head.decoder.{p}", "outputs.words.project.{p}"),
        Shadow("lm_head.bias", "outputs.words.project.bias"),
        Rename("classifier.dense.{p}", "outputs.classify.hidden.{p}"),
        Rename("classifier.out_proj.{p}", "outputs.classify.out.{p}"),
        Rename("classifier.{p}", "outputs.tag.out.{p}"),
        Rename("qa_outputs.{p}", "outputs.span.out.{p}"),
    ),
    tells={"pad_token_id": 1},
    text=TEXT,
)
XLM_ROBERTA = grown(
    ROBERTA,
    name="xlm-roberta",
    title="XLM-RoBERTa",
    paper="Conneau et al., Unsupervised Cross-lingual Representation Learning at Scale",
    adds="one hundred languages in one vocabulary of SentencePiece units, with no language embeddings",
    model_type="xlm-roberta",
    base=ROBERTA.base.but(family="xlm-roberta", vocabulary=30522),
    presets={
        "xlmr-tiny": Preset({"vocabulary": 250002, "width": 128, "depth": 2, "heads": 2, **PUBLISHED}, 32_729_746),
        "xlmr-base": Preset({"vocabulary": 250002, **PUBLISHED}, 278_295_186, "config of xlm-roberta-base"),
        "xlmr-large": Preset(
            {"vocabulary": 250002, "width": 1024, "depth": 24, "heads": 16, **PUBLISHED},
            560_142_482,
            "config of xlm-roberta-large",
        ),
    },
    architectures=tuple((f"XLM{name}", heads) for name, heads in ROBERTA.architectures),
    text=TEXT.but(vocabulary=Pieces(shifted=True), classes=("XLMRobertaTokenizer",)),
)
