"""ViViT: ViT for videos, cut into pieces that reach over rows, columns and frames.

Positions are learned for videos of one size, and those of others lie between them: in a straight line through time, by
cubic curves across the picture. Its published code stretches them as if all places, of every frame, lay in one square.
"""

from bough.families.family import Preset, grown
from bough.families.pictures import SETTINGS, cut, shaped, trained
from bough.families.vit import VIT, labelled
from bough.settings import Setting, Where
from bough.spec import LayerNorm, Learned, Patches

VIVIT = grown(
    VIT,
    name="vivit",
    title="ViViT",
    year=2021,
    paper="Arnab et al., ViViT: A Video Vision Transformer",
    adds="videos, cut into pieces that reach through time as well",
    model_type="vivit",
    base=VIT.base.but(
        family="vivit",
        norm=LayerNorm(1e-6),
        **{
            "feed.activation": "gelu_tanh",
            "embedding.patches": Patches((2, 16, 16), (16, 14, 14)),
            "embedding.positions": Learned(3137),
        },
    ),
    presets={
        "vivit-tiny": Preset(
            {
                "width": 128,
                "depth": 2,
                "heads": 2,
                "embedding.patches": Patches((2, 4, 4), (4, 8, 8)),
                "embedding.positions.size": 257,
                "outputs": labelled(10),
            },
            443_530,
        ),
        "vivit-base": Preset({"outputs": labelled(400)}, 88_954_000, "config of google/vivit-b-16x2-kinetics400"),
    },
    architectures=(
        ("VivitModel", ()),
        ("VivitForVideoClassification", ("classify",)),
        ("VivitModel", ("pooler",)),
    ),
    settings=(
        Setting("tubelet_size", "embedding", codec=Where(shaped, lambda ours: list(cut(ours).shape))),
        Setting("image_size", "embedding", codec=trained(-2, -1), unsaid=224),
        Setting("num_frames", "embedding", codec=trained(-3), unsaid=32),
        *SETTINGS,
    ),
    prefix="vivit.",
    # The size of a video as the first of its files have it, who say it in the settings above as well.
    harmless=frozenset(["video_size"]),
)
