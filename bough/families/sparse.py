"""Sparse Transformer: a decoder whose tokens see few others, near ones and far ones in a pattern; kept in our files."""

from bough.families.family import Family, Preset
from bough.families.forms import Bytes, Form
from bough.spec import (
    Attention,
    Classify,
    Embedding,
    Factored,
    FeedForward,
    Fixed,
    Initial,
    Last,
    Outputs,
    PreNorm,
    Spec,
    Strided,
    Untied,
    Words,
)

WORDS = Words(projection=Untied())
BYTES = 256
TEXT = {
    "embedding.positions": Factored((96, 128)), "attention.mask": Fixed(stride=128, summary=32, over="union"),
    "attention.dropout": 0.4, "feed.dropout": 0.4, "embedding.dropout": 0.4,
}  # fmt: skip
"""The paper's model of text, enwik8: stretches of 128, summaries of 32, both seen by every head; 95 million."""
PICTURES = {
    "depth": 128, "width": 256, "heads": 2, "embedding.positions": Factored((32, 32, 3)), "feed.inner": 512,
    "attention.mask": Strided(stride=128, over="union"), "attention.key_width": 64,
    "attention.dropout": 0.25, "feed.dropout": 0.25, "embedding.dropout": 0.25,
}  # fmt: skip
"""The paper's model of pictures, CIFAR-10 as 3,072 bytes: keys and feed-forward of half the size; 59 million."""
LARGER = {
    "depth": 48, "heads": 16, "embedding.positions": Factored((64, 64, 3)),
    "attention.mask": Strided(stride=128, over="union"),
    "attention.dropout": 0.01, "feed.dropout": 0.01, "embedding.dropout": 0.01,
}  # fmt: skip
"""The paper's model of larger pictures, ImageNet at 64 by 64 as 12,288 bytes; 152 million."""
SPARSE = Family(
    name="sparse-transformer",
    title="Sparse Transformer",
    year=2019,
    paper="Child et al., Generating Long Sequences with Sparse Transformers",
    parent="gpt",
    branch="decoder",
    adds="attention to near tokens and to far ones in a pattern, so that its cost grows less than with the square",
    model_type="sparse-transformer",
    base=Spec(
        "sparse-transformer", vocabulary=BYTES, width=512, depth=30, heads=8,
        embedding=Embedding(Factored()),
        attention=Attention(Fixed(stride=128, summary=32), weights_dropout=0.0),
        feed=FeedForward(activation="gelu_sigmoid"), placement=PreNorm(),
        initial=Initial(std=0.125, fan=True, residual=True), outputs=Outputs(words=WORDS),
    ),
    presets={
        "sparse-tiny": Preset({
            "width": 128, "depth": 2, "heads": 2, "embedding.positions": Factored((32, 32)),
            "attention.mask": Fixed(stride=32, summary=4, over="heads"),
        }, 470_528),
        "sparse-enwik8": Preset(TEXT, 94_949_376, "section 7.2 and table 1; the paper says 95 million"),
        "sparse-cifar10": Preset(PICTURES, 59_196_672, "section 7.1 and table 1; the paper says 59 million"),
        "sparse-imagenet64": Preset(LARGER, 151_644_672, "section 7.3 and table 1; the paper says 152 million"),
    },
    outputs=Outputs(words=WORDS, classify=Classify(reads=Last())),
    architectures=(
        ("SparseTransformer", ()),
        ("SparseTransformerForCausalLM", ("words",)),
        ("SparseTransformerForSequenceClassification", ("classify",)),
    ),
    settings=(),
    prefix="",
    trunk=(),
    heads=(),
    text=Form(Bytes()),
)  # fmt: skip
