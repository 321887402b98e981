"""GPT: the decoder alone, trained to say the next word and then tuned to each task."""

from bough.families.family import LABELS, Family, Preset
from bough.families.forms import Form, Suffixed
from bough.families.words import Cleaned
from bough.keymap import Alias, Drop, Rename, Transpose
from bough.settings import Choice, Setting, Switch
from bough.spec import (
    Attention,
    Causal,
    Classify,
    Embedding,
    FeedForward,
    Last,
    LayerNorm,
    Learned,
    Outputs,
    Spec,
    Tied,
    Untied,
    Words,
)

SETTINGS = (
    Setting("vocab_size", "vocabulary"),
    Setting("n_positions", "embedding.positions.size", also=("max_position_embeddings",)),
    Setting("n_embd", "width", also=("hidden_size",)),
    Setting("n_layer", "depth", also=("num_hidden_layers",)),
    Setting("n_head", "heads", also=("num_attention_heads",)),
    Setting("resid_pdrop", "attention.dropout", "feed.dropout"),
    Setting("embd_pdrop", "embedding.dropout"),
    Setting("attn_pdrop", "attention.weights_dropout"),
    Setting("layer_norm_epsilon", "norm.epsilon"),
    Setting("initializer_range", "initial.std"),
    Setting("tie_word_embeddings", "outputs.words.projection", codec=Switch(off=Untied, on=Tied)),
    *LABELS,
)
# What its file calls gelu has always been computed by the tanh formula.
ACTIVATIONS = Choice(
    (
        ("gelu", "gelu_tanh"),
        ("gelu_new", "gelu_tanh"),
        ("relu", "relu"),
        ("silu", "silu"),
        ("swish", "silu"),
    )
)
BLOCK = (
    Transpose("h.{i}.attn.c_attn.weight", "blocks.{i}.attention.qkv.weight"),
    Rename("h.{i}.attn.c_attn.bias", "blocks.{i}.attention.qkv.bias"),
    Transpose("h.{i}.attn.c_proj.weight", "blocks.{i}.attention.out.weight"),
    Rename("h.{i}.attn.c_proj.bias", "blocks.{i}.attention.out.bias"),
    Rename("h.{i}.ln_1.{p}", "blocks.{i}.attention_norm.{p}"),
    Transpose("h.{i}.mlp.c_fc.weight", "blocks.{i}.feed.up.weight"),
    Rename("h.{i}.mlp.c_fc.bias", "blocks.{i}.feed.up.bias"),
    Transpose("h.{i}.mlp.c_proj.weight", "blocks.{i}.feed.down.weight"),
    Rename("h.{i}.mlp.c_proj.bias", "blocks.{i}.feed.down.bias"),
    Rename("h.{i}.ln_2.{p}", "blocks.{i}.feed_norm.{p}"),
    Drop("h.{i}.attn.bias"),
)
BASE = Spec(
    "gpt", vocabulary=40478, width=768, depth=12, heads=12,
    embedding=Embedding(Learned(512)), attention=Attention(Causal()), feed=FeedForward(activation="gelu_tanh"),
    norm=LayerNorm(1e-5), outputs=Outputs(words=Words()),
)  # fmt: skip
HARMLESS = """
    n_ctx n_special predict_special_tokens
    summary_activation summary_first_dropout summary_proj_to_labels summary_type summary_use_proj
"""
GPT = Family(
    name="gpt",
    title="GPT",
    year=2018,
    paper="Radford et al., Improving Language Understanding by Generative Pre-Training",
    parent="transformer",
    branch="decoder",
    adds="the decoder alone; next word as objective, then the same weights for every task",
    model_type="openai-gpt",
    base=BASE,
    presets={
        "gpt-tiny": Preset({"width": 128, "depth": 2, "heads": 2}, 5_643_264),
        "gpt": Preset({}, 116_534_784, "config of openai-gpt"),
    },
    outputs=Outputs(words=Words(), classify=Classify(reads=Last(), bias=False, dropout=0.0)),
    architectures=(
        ("OpenAIGPTModel", ()),
        ("OpenAIGPTLMHeadModel", ("words",)),
        ("OpenAIGPTForSequenceClassification", ("classify",)),
    ),
    settings=(Setting("afn", "feed.activation", codec=ACTIVATIONS), *SETTINGS),
    prefix="transformer.",
    trunk=(
        Rename("tokens_embed.weight", "embed.tokens.weight"),
        Rename("positions_embed.weight", "embed.positions.weight"),
        Drop("position_ids"),
        *BLOCK,
    ),
    heads=(
        Alias("lm_head.weight", "embed.tokens.weight"),
        Rename("lm_head.weight", "outputs.words.project.weight"),
        Rename("score.weight", "outputs.classify.out.weight"),
    ),
    harmless=frozenset(HARMLESS.split()),
    text=Form(Suffixed(Cleaned()), ("OpenAIGPTTokenizer",), pair="A B:1", first=("unk",), unk="<unk>"),
)
