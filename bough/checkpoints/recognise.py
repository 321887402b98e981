"""Which family and heads a checkpoint is of: as its config says, or else as its tensors' names tell."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, cast

from bough.checkpoints.keys import canonical
from bough.errors import ArtefactError, BoughError
from bough.families import FAMILIES, Family, family
from bough.keymap import Alias, Constant, Drop, Only, Shadow, expand, spelled, written_out
from bough.settings import keys
from bough.spec import Clusters, Outputs, Pooled


def which_family(config: Mapping[str, Any], names: Collection[str], where: str) -> Family:
    """The family of a checkpoint whose user did not say it."""
    said = config.get("model_type")
    if isinstance(said, str):
        try:
            return family(said)
        except BoughError as error:
            raise ArtefactError(f"{where}: model_type: {error}; another is said with family= (--family)") from None
    classes = _classes(config)
    for one in FAMILIES.values():
        if classes & {name for name, _ in one.architectures}:
            return one
    return _by_names(config, names, where)


def which_heads(family: Family, config: Mapping[str, Any], names: Collection[str], ignore: Collection[str]) -> Outputs:
    """The heads that a checkpoint's tensors or its config claim."""
    spelt = set(canonical((name for name in names if name not in ignore), family))
    own = {head: _own_names(head, family) for head in family.outputs.present()}
    meant = _meant(family, config)
    present = {head for head, theirs in own.items() if theirs & spelt}
    for head in sorted(present):
        rivals = {other for other in present if own[other] & own[head] & spelt}
        if len(rivals) > 1:
            present -= rivals - {_settled(rivals, own, spelt, meant, family)}
    if meant is None and not present - {"pooler"} and _needs_no_tensor("words", family):
        present.add("words")
    # A pooler that only its class speaks of comes with the heads that read it.
    return family.outputs.only(*((present | (meant or set()) - {"pooler"}) - set(ignore)))


def tensors_of(family: Family, names: Collection[str], heads: Collection[str], held: Outputs) -> set[str]:
    """The tensors of a file that belong to these heads and to none it keeps; a word that is no head is passed over."""
    offered = family.outputs.present().keys()
    kept = {name for head in held.present() for name in _own_names(head, family)}
    gone = {name for head in offered & set(heads) for name in _own_names(head, family)} - kept
    return {own for name, own in canonical(names, family).items() if name in gone}


def _classes(config: Mapping[str, Any]) -> set[str]:
    """The class names that a config says wrote it."""
    classes = config.get("architectures")
    return {str(name) for name in cast("list[Any]", classes)} if isinstance(classes, list) else set()


def _meant(family: Family, config: Mapping[str, Any]) -> set[str] | None:
    """The heads that the config's class always has, or None where it names no class of the family."""
    claims: list[set[str]] = [set(heads) for name, heads in family.architectures if name in _classes(config)]
    return claims[0].intersection(*claims) if claims else None


def _own_names(head: str, family: Family) -> set[str]:
    """The names that only a file with this head has, in any form of the family."""
    trunk, heads = ([one for rule in rules for one in written_out(rule, family.whole) if not isinstance(one, Drop)]
                    for rules in (family.trunk, family.heads))  # fmt: skip
    own = [rule for rule in (*trunk, *heads) if rule.ours.startswith(f"outputs.{head}.")]
    if head == "words":
        own += [rule for rule in heads if isinstance(rule, Alias) and rule.ours == "embed.tokens.weight"]
    return {name for rule in own for name in spelled(rule)}


def _needs_no_tensor(head: str, family: Family) -> bool:
    """Whether a head may be in a file and leave no name there, because it is wholly tied."""
    return head in family.outputs.present() and not any(
        name.startswith(f"outputs.{head}.") for name in family.whole.tensors()
    )


def _settled(
    rivals: set[str], own: Mapping[str, set[str]], spelt: set[str], meant: set[str] | None, family: Family
) -> str:
    """Which of the heads that share a name in the file is the one it holds."""
    if meant and rivals & meant:
        return min(rivals & meant)
    complete = {head for head in rivals if own[head] <= spelt} or rivals
    most = max(len(own[head] & spelt) for head in complete)
    likely = {head for head in complete if len(own[head] & spelt) == most}
    pooled = bool(own.get("pooler", set()) & spelt)
    reads_pooler = {head for head in likely if getattr(family.outputs.present()[head], "reads", None) == Pooled()}
    return min((reads_pooler if pooled else likely - reads_pooler) or likely)


def _by_names(config: Mapping[str, Any], names: Collection[str], where: str) -> Family:
    fits = [one for one in FAMILIES.values() if one.trunk and _trunk_names(one) <= set(canonical(names, one))]
    marked = [one for one in fits if any(name.startswith(one.prefix) for name in names)]
    fits = marked or fits
    fewest = min((_unknown(one, names) for one in fits), default=0)
    fits = [one for one in fits if _unknown(one, names) == fewest]
    told = [one for one in fits if one.tells and all(config.get(key) == value for key, value in one.tells.items())]
    fits = told or fits
    fewest = min((_unsaid(one, config) for one in fits), default=0)
    fits = [one for one in fits if _unsaid(one, config) == fewest]
    # Families that read a file alike need not be told apart: the elder stands for both.
    alike = [one for one in fits if _reads(one) == _reads(fits[0])]
    if not fits:
        raise ArtefactError(f"{where}: no model_type, and the tensors' names are of no family known here; "
                            "say one with family= (--family)")  # fmt: skip
    if len(alike) < len(fits):
        could = " or ".join(one.name for one in fits)
        raise ArtefactError(
            f"{where}: no model_type, and the tensors could be of {could}; say which with family= (--family)"
        )
    return fits[0]


def _reads(family: Family) -> tuple[object, ...]:
    """All that a file is read by."""
    return family.trunk, family.heads, family.tells, family.settings


def _unsaid(family: Family, config: Mapping[str, Any]) -> int:
    """How many of a config's keys the family has no setting for."""
    return len(config.keys() - keys(family.rules) - family.harmless)


def _trunk_names(family: Family) -> set[str]:
    """What any checkpoint of the family holds, of one block."""
    least = family.base.but(depth=1, outputs=Outputs())
    if least.embedding.clusters:
        least = least.but(**{"embedding.clusters": Clusters((), factor=1)})
    rules = expand((rule for rule in family.trunk if not isinstance(rule, Only)), least)
    return {name for rule in rules if not isinstance(rule, Alias | Shadow | Constant | Drop) for name in spelled(rule)}


def _unknown(family: Family, names: Collection[str]) -> int:
    """How many of a file's names outside its blocks the family has no rule for."""
    rules = [one for rule in (*family.trunk, *family.heads) for one in written_out(rule, family.whole)]
    known = {name for rule in rules for name in spelled(rule)}
    return len([name for name in canonical(names, family) if name not in known and not any(c.isdigit() for c in name)])
