"""A recipe: one job as TOML, read into records that check every field. Later rooms add their sections to `Recipe`.

    [data]                    # paths, or lists of them, are relative to the folder in which the command is run
    train = "train.csv"       # also valid, test; format, columns, per, header, skip_bad, labels, separator
    [tokenizer]
    from = "bert-tiny"        # a folder or a tokenizer.json; or kind, size and family, to train one
    [text]
    limit = 128               # also policy, stride
    [task]
    kind = "classify"
    [batch]
    tokens = 4096

What is wrong is told with the line it stands on.
"""

from __future__ import annotations

import dataclasses
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import Annotated, Any, Literal, cast

from bough.data.reading.columns import Columns, Part
from bough.data.reading.source import Source
from bough.data.reading.streams import Format
from bough.errors import BoughError, FieldError
from bough.families import FAMILIES
from bough.record import Range, Record, brief, nearest
from bough.text.limits import MOST, Limit

Paths = str | tuple[str, ...]
Changes = Mapping[str, Any]
"""Values by the dotted paths of their fields."""
NONE: Changes = {}
Tasks = Literal["classify", "regress", "tag", "pair", "causal", "masked", "infill", "translate"]
NEEDS: dict[Tasks, tuple[Part, ...]] = {
    "classify": ("text", "label"),
    "regress": ("text", "label"),
    "tag": ("text", "label"),
    "translate": ("source", "target"),
}
"""The parts that every row must have for a task; any text will do for those that are not named."""
SETS = ("train", "valid", "test")
PLACE = re.compile(r"(.*) \(at (?:line (\d+), column (\d+)|end of document)\)", re.DOTALL)
"""How tomllib says where it stopped."""
HEADER = re.compile(r"\s*\[\s*([^\[\]]+?)\s*\]")
FIELD = re.compile(r"\s*([\w.\-\"' ]+?)\s*=")


@dataclass(frozen=True)
class Data(Record):
    """What is read, and how."""

    train: Paths
    valid: Paths | None = None
    test: Paths | None = None
    format: Format | None = None
    columns: Columns = field(default_factory=Columns)
    per: Literal["line", "document"] = "line"
    header: bool | None = None
    skip_bad: bool = False
    labels: tuple[str, ...] = ()
    """The names of the classes, in the order of their numbers; inferred from `train` where none are given."""
    separator: str | None = None
    """What stands between the labels of a row that may have several."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in SETS:
            if getattr(self, name) in ("", ()):
                raise FieldError(name, "names no file; name one, or leave it out")

    def sources(self) -> dict[str, Source]:
        """The sets there are, each as a source."""
        given: dict[str, Paths | None] = {name: getattr(self, name) for name in SETS}
        return {name: self._source(paths) for name, paths in given.items() if paths is not None}

    def _source(self, paths: Paths) -> Source:
        several = (paths,) if isinstance(paths, str) else paths
        return Source(several, self.format, self.columns, self.per, self.skip_bad, self.header)


@dataclass(frozen=True)
class TokenizerFrom(Record):
    """Where the tokenizer comes from: a folder, or training."""

    from_: str | None = None
    """Called `from` in a recipe, a word that Python keeps for itself."""
    kind: Literal["word", "character", "bpe", "bytes", "wordpiece", "unigram"] | None = None
    size: Annotated[int, Range(1, MOST)] | None = None
    family: str | None = None
    """Whose special tokens and normalisation a trained one has."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.family is not None and self.family not in FAMILIES:
            raise FieldError("family", f"there is no family {brief(self.family)}{nearest(self.family, list(FAMILIES))}")
        trained = [name for name in ("kind", "size", "family") if getattr(self, name) is not None]
        if self.from_ is not None and trained:
            raise FieldError(trained[0], "is for a tokenizer to train, and `from` names one to read; give only one")
        if self.from_ is None and (self.kind is None or self.size is None):
            raise FieldError("from_", "is missing; name a folder to read, or give kind and size to train one")


@dataclass(frozen=True)
class Text(Record):
    """How long a text may be."""

    limit: Annotated[int, Range(1, MOST)] | None = None
    policy: Literal["error", "truncate", "head-tail", "window"] = "truncate"
    stride: Annotated[int, Range(0, MOST)] = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        Limit(self.limit or MOST, self.policy, self.stride)

    def limited(self) -> Limit | None:
        """The limit, if there is one."""
        return None if self.limit is None else Limit(self.limit, self.policy, self.stride)


@dataclass(frozen=True)
class Task(Record):
    """What is to be learned."""

    kind: Tasks


@dataclass(frozen=True)
class Batches(Record):
    """What a step of training reads."""

    tokens: Annotated[int, Range(1, MOST)] = 4096


@dataclass(frozen=True)
class Recipe(Record):
    """A job; each field is a section."""

    data: Data
    tokenizer: TokenizerFrom | None = None
    text: Text = field(default_factory=Text)
    task: Task | None = None
    batch: Batches = field(default_factory=Batches)


def read(path: str | Path, changes: Changes = NONE) -> Recipe:
    """The recipe in a file, with values put at dotted paths in place of what it says."""
    try:
        content = Path(path).read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise BoughError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise BoughError(f"{path}: not UTF-8 ({error.reason} at byte {error.start + 1}); convert it") from None
    return parsed(content, str(path), changes)


def parsed(content: str, where: str, changes: Changes = NONE) -> Recipe:
    """The recipe in a text; `where` names it in complaints."""
    sections = _loaded(content, where)
    for path, value in changes.items():
        _put(sections, path, value)
    try:
        _check_sections(sections)
        return Recipe.from_plain(_renamed(sections, "from", "from_"))
    except FieldError as error:
        path, problem = (text.replace("from_", "from") for text in (error.path, error.problem))
        said = any(f"{path}.".startswith(f"{one}.") for one in changes)
        raise BoughError(f"{'' if said else f'{where}:{_line(content, path)}: '}{path}: {problem}") from None


def _loaded(content: str, where: str) -> dict[str, Any]:
    try:
        return tomllib.loads(content)
    except RecursionError:
        raise BoughError(f"{where}: not TOML (brackets in brackets without end)") from None
    except tomllib.TOMLDecodeError as error:
        found = PLACE.fullmatch(str(error))
        said, line, column = found.groups() if found else (str(error), None, None)
        ends = len(content.splitlines())
        place = f"{line}:{column}" if line else f"{max(1, ends)}"
        raise BoughError(f"{where}:{place}: not TOML ({said})") from None


def changed(texts: Sequence[str]) -> dict[str, Any]:
    """What `a.b=value` says is changed, for `read`; a value is TOML, or else it is text."""
    found: dict[str, Any] = {}
    for text in texts:
        path, equals, value = (part.strip() for part in text.partition("="))
        if not equals or not all(path.split(".")):
            raise BoughError(f"{brief(text)}: must be a field's path, =, and its value, such as data.per=document")
        found[path] = _value(value)
    return found


def _value(text: str) -> Any:
    try:
        found = tomllib.loads(f"value = {text}")
    except (tomllib.TOMLDecodeError, RecursionError):
        return text
    return found["value"] if len(found) == 1 else text


def _put(sections: dict[str, Any], path: str, value: Any) -> None:
    """Set what stands at a dotted path."""
    *above, last = path.split(".")
    inner = sections
    for name in above:
        if not isinstance(inner.setdefault(name, {}), dict):
            raise BoughError(f"{path}: {name} is {brief(inner[name])}, and has no fields")
        inner = cast("dict[str, Any]", inner[name])
    inner[last] = value


def _check_sections(sections: Mapping[str, Any]) -> None:
    """Raise where there is what no section is."""
    known = [one.name for one in dataclasses.fields(Recipe)]
    for name, fields in sections.items():
        if name not in known:
            raise FieldError(name, f"there is no such section{nearest(name, known)}; there are {', '.join(known)}")
        if not isinstance(fields, dict):
            raise FieldError(name, f"must be a section, [{name}] with its fields below, not {brief(fields)}")


def _renamed(sections: Mapping[str, Any], name: str, other: str) -> dict[str, Any]:
    """The sections with one field of the tokenizer under another name."""
    tokenizer = sections.get("tokenizer")
    if not isinstance(tokenizer, dict):
        return dict(sections)
    fields = cast("dict[str, Any]", tokenizer)
    return {**sections, "tokenizer": {other if key == name else key: value for key, value in fields.items()}}


def _line(content: str, path: str) -> int:
    """The line on which a field is written, or else the first of what holds it."""
    wanted = path.partition("[")[0].split(".")
    found, most, table = 1, 0, list[str]()
    for number, line in enumerate(content.splitlines(), 1):
        if header := HEADER.match(line):
            here = table = _names(header[1])
        elif named := FIELD.match(line):
            here = [*table, *_names(named[1])]
        else:
            continue
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(here, wanted, strict=False)))
        if same > most:
            found, most = number, same
    return found


def _names(dotted: str) -> list[str]:
    """The parts of a dotted name, without quotes and blanks."""
    return [part.strip(" \"'") for part in dotted.split(".")]
