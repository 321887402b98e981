"""ViT: an encoder of pictures, cut into pieces that stand where words stood."""

from bough.families.family import Family, Preset
from bough.families.pictures import SETTINGS, TRUNK, alone, cut, shaped, trained
from bough.keymap import Rename
from bough.settings import Setting, Where
from bough.spec import (
    Attention,
    Classify,
    Embedding,
    FeedForward,
    First,
    LayerNorm,
    Learned,
    Outputs,
    Patches,
    Pooler,
    PreNorm,
    Spec,
)

CLASSIFY = Classify(reads=First(), dropout=0.0)
LARGE = {"width": 1024, "depth": 24, "heads": 16}
HUGE = {"width": 1280, "depth": 32, "heads": 16, "embedding.patches": Patches((14, 14), (16, 16))}
TINY = {"width": 128, "depth": 2, "heads": 2, "embedding.patches": Patches((4, 4), (8, 8))}


def labelled(count: int) -> Outputs:
    """A head that scores so many labels; files name them."""
    return Outputs(classify=CLASSIFY.but(labels=tuple(f"LABEL_{number}" for number in range(count))))


VIT = Family(
    name="vit",
    title="ViT",
    year=2020,
    paper="Dosovitskiy et al., An Image is Worth 16x16 Words: Transformers for Image Recognition at Scale",
    parent="bert",
    branch="encoder",
    adds="pictures cut into pieces that stand in place of words; norms in front of each sublayer and one at the end",
    model_type="vit",
    base=Spec(
        "vit", vocabulary=0, width=768, depth=12, heads=12,
        embedding=Embedding(Learned(197), dropout=0.0, patches=Patches((16, 16), (14, 14))),
        attention=Attention(weights_dropout=0.0, dropout=0.0), feed=FeedForward(dropout=0.0),
        norm=LayerNorm(1e-12), placement=PreNorm(), outputs=Outputs(classify=CLASSIFY),
    ),
    presets={
        "vit-tiny": Preset({**TINY, "embedding.positions.size": 65, "outputs": labelled(10)}, 412_810),
        "vit-base": Preset({"outputs": labelled(1000)}, 86_567_656, "config of google/vit-base-patch16-224"),
        "vit-large": Preset(
            {**LARGE, "outputs": labelled(1000)}, 304_326_632, "config of google/vit-large-patch16-224"
        ),
        "vit-huge": Preset(
            {**HUGE, "embedding.positions.size": 257, "outputs": Outputs(Pooler())}, 632_404_480,
            "config of google/vit-huge-patch14-224-in21k",
        ),
    },
    outputs=Outputs(Pooler(), classify=CLASSIFY),
    architectures=(("ViTModel", ()), ("ViTForImageClassification", ("classify",)), ("ViTModel", ("pooler",))),
    settings=(
        Setting("patch_size", "embedding", codec=Where(shaped, lambda ours: alone([*cut(ours).shape]))),
        Setting("image_size", "embedding", codec=trained(-2, -1), unsaid=224),
        *SETTINGS,
    ),
    prefix="vit.",
    trunk=TRUNK,
    heads=(Rename("classifier.{p}", "outputs.classify.out.{p}"),),
    harmless=frozenset(["encoder_stride"]),
)  # fmt: skip
