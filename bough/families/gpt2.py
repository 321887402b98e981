"""GPT-2: GPT with its norms moved in front, a bytes-only vocabulary, and four sizes up to 1.5 billion parameters."""

from bough.families.family import ACTIVATIONS, Preset, grown
from bough.families.forms import Bytes, Form
from bough.families.gpt import BLOCK, GPT, SETTINGS
from bough.keymap import Alias, Drop, Rename
from bough.settings import OrSoFar, Refused, Setting
from bough.spec import Classify, Initial, Last, Learned, Outputs, PreNorm, Span, Tag, Words

END = "<|endoftext|>"
GPT2 = grown(
    GPT,
    name="gpt2",
    title="GPT-2",
    year=2019,
    paper="Radford et al., Language Models are Unsupervised Multitask Learners",
    adds="norms in front of each sublayer and one at the end, byte-level BPE, 1,024 positions, scaled residual start",
    model_type="gpt2",
    base=GPT.base.but(
        family="gpt2",
        vocabulary=50257,
        placement=PreNorm(),
        initial=Initial(residual=True),
        **{"embedding.positions": Learned(1024)},
    ),
    presets={
        "gpt2-tiny": Preset({"width": 128, "depth": 2, "heads": 2}, 6_960_768),
        "gpt2": Preset({}, 124_439_808, "config of gpt2"),
        "gpt2-medium": Preset({"width": 1024, "depth": 24, "heads": 16}, 354_823_168, "config of gpt2-medium"),
        "gpt2-large": Preset({"width": 1280, "depth": 36, "heads": 20}, 774_030_080, "config of gpt2-large"),
        "gpt2-xl": Preset({"width": 1600, "depth": 48, "heads": 25}, 1_557_611_200, "config of gpt2-xl"),
    },
    outputs=Outputs(
        words=Words(),
        classify=Classify(reads=Last(), bias=False, dropout=0.0),
        tag=Tag(),
        span=Span(),
    ),
    architectures=(
        ("GPT2Model", ()),
        ("GPT2LMHeadModel", ("words",)),
        ("GPT2ForSequenceClassification", ("classify",)),
        ("GPT2ForTokenClassification", ("tag",)),
        ("GPT2ForQuestionAnswering", ("span",)),
    ),
    settings=(
        *SETTINGS,
        Setting("activation_function", "feed.activation", codec=ACTIVATIONS),
        Setting("n_inner", "feed.inner"),
        Setting("scale_attn_weights", "attention.scale.root"),
        Setting("scale_attn_by_inverse_layer_idx", "attention.scale.by_layer"),
        Setting("classifier_dropout", "outputs.tag.dropout", codec=OrSoFar(), also=("hidden_dropout",)),
        Refused("add_cross_attention", (False, None), "this family has no encoder to look at"),
    ),
    trunk=(
        Rename("wte.weight", "embed.tokens.weight"),
        Rename("wpe.weight", "embed.positions.weight"),
        *BLOCK,
        Drop("h.{i}.attn.masked_bias"),
        Rename("ln_f.{p}", "norm.{p}"),
    ),
    heads=(
        Alias("lm_head.weight", "embed.tokens.weight"),
        Rename("lm_head.weight", "outputs.words.project.weight"),
        Rename("score.weight", "outputs.classify.out.weight"),
        Rename("classifier.{p}", "outputs.tag.out.{p}"),
        Rename("qa_outputs.{p}", "outputs.span.out.{p}"),
    ),
    # Their reordering and upcasting change only half precision's rounding.
    harmless=GPT.harmless | {"reorder_and_upcast_attn"},
    text=Form(Bytes(), ("GPT2Tokenizer",), pair="A B:1", last=("eos",), unk=END, bos=END, eos=END),
)
