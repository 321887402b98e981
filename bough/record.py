"""The room of records: frozen data that checks itself, changes by path, diffs, and reads and writes JSON.

A record is a frozen dataclass whose annotations are the whole truth about its fields. `Annotated[int, Range(…)]`
bounds a number, a union of records is a choice of variants, and `None` in a union means the part is absent.
"""

from __future__ import annotations

import dataclasses
import difflib
import functools
import json
import reprlib
import sys
import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from bough.errors import BoughError, FieldError

R = TypeVar("R", bound="Record")

BRIEFLY = reprlib.Repr()
BRIEFLY.maxstring = BRIEFLY.maxother = 60
"""Neither as long nor as deep as a hostile file may make it."""

FEW = 6
"""As many items as are shown one by one."""

MISSING: Any = object()
"""What `get` returns for a path that the record does not have."""


@dataclass(frozen=True)
class Range:
    """The closed interval that a number lies in."""

    low: float
    high: float


class Difference(tuple[str, Any, Any]):
    """A path at which two records differ, with the value each has there."""

    __slots__ = ()

    def __new__(cls, path: str, ours: Any, theirs: Any) -> Difference:
        return super().__new__(cls, (path, ours, theirs))

    path = property(lambda self: self[0])
    ours = property(lambda self: self[1])
    theirs = property(lambda self: self[2])


@dataclass(frozen=True)
class Record:
    """The base of every record: subclass it with a frozen dataclass and annotate each field."""

    def __post_init__(self) -> None:
        for name, kind in _kinds(type(self)).items():
            # A frozen dataclass has no other way to keep 0 and 0.0 from being two spellings of one rate.
            object.__setattr__(self, name, _checked(getattr(self, name), kind, name))

    def but(self: R, **changes: Any) -> R:
        """A copy with these fields changed; a dotted path (`"attention.dropout"`) reaches inside."""
        return changed(self, changes)

    def to_json(self) -> str:
        """The record as JSON, in the order of its fields."""
        return json.dumps(plain(self), indent=2) + "\n"

    @classmethod
    def from_json(cls: type[R], text: str) -> R:
        """Read what `to_json` wrote, checking every field."""
        try:
            data = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise BoughError(f"{cls.__name__}: this is not JSON ({error})") from None
        return cls.from_plain(data)

    @classmethod
    def from_plain(cls: type[R], data: Any) -> R:
        """Read what `plain` made of one, or what a file of another format holds, checking every field."""
        record = _parsed(data, cls, "")
        if not isinstance(record, cls):
            raise BoughError(f"{cls.__name__}: must be a JSON object, not {brief(data)}")
        return record

    def diff(self, other: Record) -> list[Difference]:
        """Every path at which the two records differ; a variant that differs in kind is one difference."""
        return list(_differences(self, other, ""))


def get(record: Record, path: str) -> Any:
    """The value at a dotted path, or `MISSING` where a part on the way is absent or has no such field."""
    value: Any = record
    for name in path.split("."):
        if not isinstance(value, Record) or name not in _kinds(type(value)):
            return MISSING
        value = getattr(value, name)
    return value


def changed(record: R, changes: Mapping[str, Any]) -> R:
    """The record with the value at each dotted path replaced, checked once as a whole."""
    direct = {path: value for path, value in changes.items() if "." not in path}
    nested: dict[str, dict[str, Any]] = {}
    for path, value in changes.items():
        if "." in path:
            first, rest = path.split(".", 1)
            nested.setdefault(first, {})[rest] = value
    kinds = _kinds(type(record))
    for name in [*direct, *nested]:
        if name not in kinds:
            raise FieldError(name, f"there is no such field{nearest(name, kinds)}")
    for name, inner in nested.items():
        part = direct.get(name, getattr(record, name))
        if not isinstance(part, Record):
            raise FieldError(f"{name}.{next(iter(inner))}", f"there is no such field: {name} is {part!r}")
        try:
            direct[name] = changed(part, inner)
        except FieldError as error:
            raise error.under(name) from None
    return dataclasses.replace(record, **direct)


def plain(value: Any) -> Any:
    """A record as the dicts, lists and numbers that JSON knows; a variant carries its `kind`."""
    if isinstance(value, Record):
        fields = {name: plain(getattr(value, name)) for name in _kinds(type(value))}
        return {"kind": type(value).__name__, **fields}
    if isinstance(value, tuple):
        return [plain(item) for item in cast("tuple[Any, ...]", value)]
    return value


def nearest(name: str, names: Mapping[str, Any] | list[str]) -> str:
    """A hint for a misspelt name: `; did you mean 'width'?`, or nothing when none is near."""
    near = difflib.get_close_matches(name, list(names), n=1)
    return f"; did you mean {near[0]!r}?" if near else ""


def show(value: Any) -> str:
    """A field's value in a few characters, for tables and messages: `Learned(size=512)`, `0.1`, `none`."""
    if value is None:
        return "none"
    if isinstance(value, Record):
        inside = ", ".join(f"{name}={show(getattr(value, name))}" for name in _kinds(type(value)))
        return f"{type(value).__name__}({inside})" if inside else type(value).__name__
    if isinstance(value, tuple):
        items = cast("tuple[Any, ...]", value)
        return str(items) if len(items) <= FEW else f"({_ends(items)}; {len(items)} in all)"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _ends(items: tuple[Any, ...]) -> str:
    """The first items and the last."""
    return f"{', '.join(map(show, items[:4]))} … {show(items[-1])}"


def brief(value: Any) -> str:
    """A foreign value for a message, cut to a length that fits on a line."""
    text = BRIEFLY.repr(value)
    return text if len(text) <= 60 else text[:59] + "…"


@functools.cache
def _kinds(record: type[Record]) -> dict[str, Any]:
    """The record's fields and what each may hold, in order."""
    hints = get_type_hints(record, include_extras=True)
    return {field.name: hints[field.name] for field in dataclasses.fields(record)}


def _options(kind: Any) -> tuple[Any, ...]:
    """The alternatives of a union, or the kind alone."""
    return get_args(kind) if get_origin(kind) in (Union, types.UnionType) else (kind,)


def _checked(value: Any, kind: Any, path: str) -> Any:
    """The value as the field keeps it, or a FieldError that says what it should have been."""
    options = _options(kind)
    for option in options:
        fitted = _fitted(value, option, path)
        if fitted is not MISSING:
            return fitted
    wanted = " or ".join(_describe(option) for option in options)
    raise FieldError(path, f"must be {wanted}, not {brief(value)}")


def _fitted(value: Any, kind: Any, path: str) -> Any:
    """The value as `kind`, or MISSING where it is not one."""
    origin, args = get_origin(kind), get_args(kind)
    if origin is Annotated:
        fitted, bound = _fitted(value, args[0], path), args[1]
        inside = fitted is not MISSING and bound.low <= fitted <= bound.high
        return fitted if inside else MISSING
    if origin is Literal:
        return value if value in args else MISSING
    if origin is tuple:
        if not isinstance(value, (tuple, list)):
            return MISSING
        items = cast("tuple[Any, ...]", value)
        return tuple(_checked(item, args[0], f"{path}[{i}]") for i, item in enumerate(items))
    if kind is float:
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        # The comparison, unlike a conversion, holds for whole numbers of any length.
        return float(value) if number and abs(value) <= sys.float_info.max else MISSING
    if kind is int:
        return value if isinstance(value, int) and not isinstance(value, bool) else MISSING
    return value if isinstance(value, kind) else MISSING


def _describe(kind: Any) -> str:
    """What a field wants, in words."""
    origin, args = get_origin(kind), get_args(kind)
    if origin is Annotated:
        bound: Range = args[1]
        return f"{_describe(args[0])} from {bound.low:,} to {bound.high:,}"
    if origin is Literal:
        return "one of " + ", ".join(repr(choice) for choice in args)
    if origin is tuple:
        return f"a list of which each item is {_describe(args[0])}"
    words = {int: "a whole number", float: "a finite number", bool: "true or false", str: "text", type(None): "none"}
    return words.get(kind, getattr(kind, "__name__", str(kind)))


def _parsed(data: Any, kind: Any, path: str) -> Any:
    """JSON data as a value of `kind`; records are built from the inside out."""
    options = _options(kind)
    records = {o.__name__: o for o in options if isinstance(o, type) and issubclass(o, Record)}
    if records and isinstance(data, dict):
        fields, name = dict(cast("dict[str, Any]", data)), next(iter(records))
        if len(records) > 1 or "kind" not in _kinds(records[name]):  # else it is a field like any other
            name = fields.pop("kind", name)
        if not isinstance(name, str) or name not in records:
            raise FieldError(path or "kind", f"must be one of {', '.join(records)}, not {brief(name)}")
        return _parsed_record(fields, records[name], path)
    several = next((option for option in options if get_origin(option) is tuple), None)
    if several and isinstance(data, list):
        items = cast("list[Any]", data)
        return tuple(_parsed(item, get_args(several)[0], f"{path}[{i}]") for i, item in enumerate(items))
    return data


def _parsed_record(fields: dict[str, Any], record: type[Record], path: str) -> Record:
    kinds, prefix = _kinds(record), f"{path}." if path else ""
    for name in fields:
        if name not in kinds:
            raise FieldError(prefix + name, f"there is no such field{nearest(name, kinds)}")
    values = {name: _parsed(value, kinds[name], prefix + name) for name, value in fields.items()}
    no_default = (dataclasses.MISSING, dataclasses.MISSING)
    required = {f.name for f in dataclasses.fields(record) if (f.default, f.default_factory) == no_default}
    for name in sorted(required - values.keys()):
        raise FieldError(prefix + name, "is missing")
    try:
        return record(**values)
    except FieldError as error:
        raise (error.under(path) if path else error) from None


def _differences(ours: Any, theirs: Any, path: str) -> Iterator[Difference]:
    if isinstance(ours, Record) and type(ours) is type(theirs):
        for name in _kinds(type(ours)):
            inner = f"{path}.{name}" if path else name
            yield from _differences(getattr(ours, name), getattr(theirs, name), inner)
    elif ours != theirs:
        yield Difference(path, ours, theirs)
