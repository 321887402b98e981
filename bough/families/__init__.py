"""The room of families: the branches of the tree, each one small file of data; no torch may come in."""

from __future__ import annotations

from bough.errors import BoughError
from bough.families.albert import ALBERT
from bough.families.bart import BART, MBART
from bough.families.bert import BERT
from bough.families.distilbert import DISTILBERT
from bough.families.family import Family, Preset
from bough.families.gpt import GPT
from bough.families.gpt2 import GPT2
from bough.families.roberta import ROBERTA, XLM_ROBERTA
from bough.families.sparse import SPARSE
from bough.families.t5 import T5
from bough.families.transformer import TRANSFORMER
from bough.families.transformer_xl import TRANSFORMER_XL
from bough.families.vit import VIT
from bough.families.vivit import VIVIT
from bough.families.xlm import XLM
from bough.record import brief, nearest
from bough.spec import Spec

__all__ = ["FAMILIES", "Family", "Preset", "family", "preset"]

FAMILIES: dict[str, Family] = {
    one.name: one
    for one in (
        TRANSFORMER,
        GPT,
        GPT2,
        TRANSFORMER_XL,
        SPARSE,
        BERT,
        ROBERTA,
        XLM_ROBERTA,
        XLM,
        DISTILBERT,
        ALBERT,
        BART,
        MBART,
        T5,
        VIT,
        VIVIT,
    )
}
"""Every branch, by name; registering one here is all that makes it read, written, listed and tested."""


def family(name: str) -> Family:
    """The family of this name, which may also be what its config files call it."""
    by_model_type = {one.model_type: one for one in FAMILIES.values()}
    found = FAMILIES.get(name) or by_model_type.get(name)
    if not found:
        known = ", ".join(FAMILIES)
        near = nearest(name, [*FAMILIES, *by_model_type])
        raise BoughError(f"there is no family {brief(name)}{near}; there are {known}")
    return found


def preset(name: str) -> Spec:
    """The Spec of a preset, such as "bert-base"."""
    holders = {size: one for one in FAMILIES.values() for size in one.presets}
    if name not in holders:
        raise BoughError(f"there is no preset {brief(name)}{nearest(name, holders)}; `bough families` lists them")
    return holders[name].preset(name)
