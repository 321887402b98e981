"""The room of settings: reversible rules between a checkpoint's config.json and a Spec, as data.

A `Setting` names a key of theirs and the paths of ours that it decides; its codec turns values both ways. One table
serves reading and writing, and `write` proves it: what it wrote must read back as the same Spec, or it is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast, runtime_checkable

from bough.errors import BoughError, FieldError
from bough.record import MISSING, Record, brief, changed, get, show
from bough.spec import Spec


@runtime_checkable
class Codec(Protocol):
    """How one value is said in two languages. A value that cannot be said raises ValueError with the reason."""

    def read(self, theirs: Any, current: Any) -> Any:
        """Our value for theirs; `current` is what our field holds so far."""

    def write(self, ours: Any, spec: Spec) -> Any:
        """Their value for ours."""


@dataclass(frozen=True)
class Same:
    """The value itself."""

    def read(self, theirs: Any, current: Any) -> Any:
        return theirs

    def write(self, ours: Any, spec: Spec) -> Any:
        return ours


@dataclass(frozen=True)
class Listed:
    """Values in a row: a list in their files, a tuple in ours."""

    def read(self, theirs: Any, current: Any) -> Any:
        return tuple(cast("list[Any]", theirs)) if isinstance(theirs, list) else theirs

    def write(self, ours: Any, spec: Spec) -> Any:
        return list(ours)


@dataclass(frozen=True)
class Choice:
    """One of a few values; where several of theirs mean the same, the first is written."""

    pairs: tuple[tuple[Any, Any], ...]

    def read(self, theirs: Any, current: Any) -> Any:
        for key, value in self.pairs:
            if key == theirs and type(key) is type(theirs):
                return value
        known = ", ".join(show(key) for key, _ in self.pairs)
        raise ValueError(f"must be one of {known}, not {brief(theirs)}")

    def write(self, ours: Any, spec: Spec) -> Any:
        for key, value in self.pairs:
            if value == ours:
                return key
        raise ValueError(f"cannot be {show(ours)}")


@dataclass(frozen=True)
class Switch:
    """A boolean of theirs that chooses between two of our variants, keeping the fields they share."""

    off: type[Record]
    on: type[Record]

    def read(self, theirs: Any, current: Any) -> Any:
        if not isinstance(theirs, bool):
            raise ValueError(f"must be true or false, not {brief(theirs)}")
        wanted = self.on if theirs else self.off
        if isinstance(current, wanted):
            return current
        shared = {name: getattr(current, name) for name in wanted.__dataclass_fields__ if hasattr(current, name)}
        return wanted(**shared)

    def write(self, ours: Any, spec: Spec) -> Any:
        if isinstance(ours, self.on):
            return True
        if isinstance(ours, self.off):
            return False
        raise ValueError(f"cannot be {show(ours)}")


@dataclass(frozen=True)
class Where:
    """A pair of functions, for the settings that no simpler codec says."""

    to_ours: Callable[[Any, Any], Any]
    to_theirs: Callable[[Any], Any]

    def read(self, theirs: Any, current: Any) -> Any:
        return self.to_ours(theirs, current)

    def write(self, ours: Any, spec: Spec) -> Any:
        return self.to_theirs(ours)


@dataclass(frozen=True)
class OrSoFar:
    """Another codec, where None means what was decided so far."""

    codec: Codec = Same()

    def read(self, theirs: Any, current: Any) -> Any:
        return current if theirs is None else self.codec.read(theirs, current)

    def write(self, ours: Any, spec: Spec) -> Any:
        return self.codec.write(ours, spec)


@dataclass(frozen=True)
class Told:
    """A number that ours leaves out where it follows from others, and theirs never: written as the Spec tells."""

    tells: Callable[[Spec], Any]

    def read(self, theirs: Any, current: Any) -> Any:
        return theirs

    def write(self, ours: Any, spec: Spec) -> Any:
        return self.tells(spec)


INNER = Told(lambda spec: spec.feed.inside(spec.width))
"""The feed-forward's width, which ours leaves out where it is four times the trunk's."""


@dataclass(frozen=True, init=False)
class Setting:
    """A key of config.json and the paths it decides. A path whose part is absent from the Spec is passed over."""

    key: str
    paths: tuple[str, ...]
    codec: Codec
    also: tuple[str, ...]
    """Older spellings of the key, read but not written."""
    unsaid: Any
    """What the key's absence means, where that is not what the family's base has."""

    def __init__(
        self, key: str, *paths: str, codec: Codec = Same(), also: tuple[str, ...] = (), unsaid: Any = MISSING
    ) -> None:
        fields = {"key": key, "paths": paths, "codec": codec, "also": also, "unsaid": unsaid}
        for name, value in fields.items():
            object.__setattr__(self, name, value)


@dataclass(frozen=True)
class Refused:
    """A key that may only hold certain values, because the trunk cannot do what the others ask."""

    key: str
    unless: tuple[Any, ...]
    why: str


Rule = Setting | Refused


def read(rules: Sequence[Rule], base: Spec, config: Mapping[str, Any]) -> Spec:
    """The Spec that a config describes; what it leaves unsaid is as in `base`."""
    changes: dict[str, Any] = {}
    decided: dict[str, str] = {}
    for rule in rules:
        if isinstance(rule, Refused):
            _refuse(rule, config)
            continue
        key = next((name for name in (rule.key, *rule.also) if name in config), rule.key)
        value = config.get(key, rule.unsaid)
        for path in rule.paths if value is not MISSING else ():
            current = _peek(base, changes, path)
            if current is not MISSING:
                changes[path] = _said(key, rule.codec.read, value, current)
                decided[path] = key
    try:
        return changed(base, changes)
    except FieldError as error:
        key = decided.get(error.path, error.path)
        raise FieldError(key, error.problem) from None


def write(
    rules: Sequence[Rule], base: Spec, spec: Spec, settle: Callable[[Spec], Spec] = lambda read: read
) -> dict[str, Any]:
    """The config that describes a Spec; an error names what such a file has no words for.

    `settle` is what a reader makes of the Spec that the config alone describes.
    """
    config: dict[str, Any] = {}
    for rule in rules:
        if isinstance(rule, Refused):
            config.update({rule.key: rule.unless[0]} if rule.unless[0] is not None else {})
            continue
        held = [value for path in rule.paths if (value := get(spec, path)) is not MISSING]
        if held:
            config[rule.key] = _said(rule.paths[0], rule.codec.write, held[0], spec)
    for path, ours, theirs in spec.diff(settle(read(rules, base, config))):
        raise BoughError(
            f"{path}: a {spec.family} checkpoint cannot say {show(ours)} here (it would be read as {show(theirs)}); "
            "set it to what the family has, or keep the spec as JSON"
        )
    return config


def keys(rules: Sequence[Rule]) -> set[str]:
    """Every key that some rule reads."""
    return {name for rule in rules for name in (rule.key, *(rule.also if isinstance(rule, Setting) else ()))}


def _said(where: str, say: Callable[[Any, Any], Any], value: Any, beside: Any) -> Any:
    """Run a codec, putting the place into its complaint."""
    try:
        return say(value, beside)
    except FieldError as error:
        raise FieldError(where, error.problem) from None
    except ValueError as error:
        raise FieldError(where, str(error)) from None


def _refuse(rule: Refused, config: Mapping[str, Any]) -> None:
    value = config.get(rule.key, rule.unless[0])
    if not any(value == allowed and type(value) is type(allowed) for allowed in rule.unless):
        raise FieldError(rule.key, f"{brief(value)} is refused: {rule.why}")


def _peek(base: Spec, changes: Mapping[str, Any], path: str) -> Any:
    """What is at a path once the changes so far are made."""
    names = path.split(".")
    value: Any = base
    for depth, name in enumerate(names, start=1):
        if not isinstance(value, Record) or name not in value.__dataclass_fields__:
            return MISSING
        prefix = ".".join(names[:depth])
        value = changes.get(prefix, getattr(value, name))
    return value
