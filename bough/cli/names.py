"""Finding what a user named: a family, a preset, or nothing, with the nearest said."""

from __future__ import annotations

from bough.errors import BoughError
from bough.families import FAMILIES
from bough.record import nearest


def unknown(name: str, kind: str) -> BoughError:
    """The complaint that nothing is called so."""
    known = [one for family in FAMILIES.values() for one in (family.name, *family.presets)]
    return BoughError(f"there is no {kind} {name!r}{nearest(name, known)}; `bough families` lists them")
