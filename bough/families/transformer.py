"""Transformer: the root of the tree, an encoder and a decoder that looks at it; kept in Marian's files."""

from bough.families.family import Family, Preset
from bough.families.forms import Form, TwoSides
from bough.families.two_sides import LAYERS, SHARED, SIDES, TABLE, WORDS
from bough.keymap import Constant
from bough.settings import OrSoFar, Setting, Told
from bough.spec import (
    Attention,
    Causal,
    Embedding,
    Encoder,
    FeedForward,
    Initial,
    LayerNorm,
    Outputs,
    Sinusoid,
    Spec,
    Tied,
    Words,
)

HARMLESS = """
    add_bias_logits add_final_layer_norm classifier_dropout extra_pos_embeddings force_bos_token_to_be_generated
    id2label normalize_before normalize_embedding num_labels static_position_embeddings
"""
PUBLISHED = {
    "vocabulary": 37000, "width": 512, "depth": 6, "heads": 8,
    "embedding.scaled": True, "embedding.positions.size": 512, "feed.activation": "relu", "encoder.start": 0,
}  # fmt: skip
BIG = {"width": 1024, "heads": 16, "attention.dropout": 0.3, "feed.dropout": 0.3, "embedding.dropout": 0.3}
TRANSFORMER = Family(
    name="transformer",
    title="Transformer",
    year=2017,
    paper="Vaswani et al., Attention Is All You Need",
    parent=None,
    branch="encoder-decoder",
    adds="attention in place of recurrence; sinusoids for positions; an encoder, and a decoder that looks at it",
    model_type="marian",
    base=Spec(
        "transformer", vocabulary=58101, width=1024, depth=12, heads=16,
        embedding=Embedding(Sinusoid(1024, layout="halves")), attention=Attention(Causal(), weights_dropout=0.0),
        feed=FeedForward(), norm=LayerNorm(), encoder=Encoder(start=58100), initial=Initial(),
        outputs=Outputs(words=Words(projection=Tied(shift=True))),
    ),
    presets={
        "transformer-tiny": Preset({**PUBLISHED, "width": 128, "depth": 2, "heads": 2}, 5_792_768),
        "transformer-base": Preset(PUBLISHED, 63_606_784, "table 3, base; the paper says 65 million"),
        "transformer-big": Preset({**PUBLISHED, **BIG}, 215_293_952, "table 3, big; the paper says 213 million"),
    },
    outputs=Outputs(words=Words(projection=Tied(shift=True))),
    architectures=(("MarianModel", ()), ("MarianMTModel", ("words",))),
    settings=(
        Setting("vocab_size", "vocabulary", "encoder.vocabulary", unsaid=58101,
                codec=Told(lambda spec: spec.source.vocabulary)),
        Setting("decoder_vocab_size", "vocabulary", codec=OrSoFar()),
        Setting("share_encoder_decoder_embeddings", "encoder.vocabulary", codec=SHARED, unsaid=True),
        Setting("max_position_embeddings", "embedding.positions.size"),
        *SIDES,
    ),
    prefix="model.",
    trunk=(
        *TABLE,
        Constant("encoder.embed_positions.weight", "encoder.embed.positions.weight"),
        Constant("decoder.embed_positions.weight", "embed.positions.weight"),
        *LAYERS,
    ),
    heads=WORDS,
    harmless=frozenset(HARMLESS.split()),
    # What a file is read from with this id as padding, unless it says another.
    tells={"pad_token_id": 0, "eos_token_id": 0},
    text=Form(
        TwoSides(), ("MarianTokenizer",), "A eos", "A B eos",
        first=("eos", "unk"), last=("pad",), unk="<unk>", pad="<pad>", eos="</s>",
    ),
)  # fmt: skip
