"""What a folder says of its tokenizer beside the vocabulary: settings, tokens by role, and tokens added to it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from tokenizers import AddedToken

from bough.errors import ArtefactError, FieldError
from bough.families.forms import ROLES, Bytes, Form, Pieces, Suffixed, Whole, WordPiece
from bough.families.words import MosesWords, XlmWords
from bough.files.folder import LARGEST_JSON
from bough.record import brief

CONFIG, MAP, ADDED = "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"
FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")
ANY_KIND = ("PreTrainedTokenizer", "TokenizersBackend", "PythonBackend")
"""Names of classes that say nothing of the vocabulary."""
HOLE = "<extra_id_{}>"
"""A special token of which a setting says how many there are."""
MOST_HOLES = 10_000


@dataclass(frozen=True)
class Said:
    """What the small files of a folder say."""

    where: str
    config: Mapping[str, Any]
    roles: Mapping[str, str]
    """The token of each role that one is named for."""
    tokens: Mapping[str, AddedToken]
    """Special and added tokens by their spelling, with what is said of how they are found."""
    added: Mapping[str, int]
    """The ids that added tokens are said to have."""

    @property
    def class_name(self) -> str:
        """What its tools call its kind; empty where they say none."""
        name = str(self.config.get("tokenizer_class") or "").removesuffix("Fast")
        return "" if name in ANY_KIND else name

    def form(self, form: Form) -> Form:
        """A form with what is said of it here."""
        try:
            return form.but(**self.roles, **dict(_changes(form, self.config)))
        except FieldError as error:
            raise ArtefactError(f"{self.where}/{CONFIG}: {error}") from None


def said(files: Mapping[str, bytes], where: str) -> Said:
    """Read what the files of a folder say; a file that is not there says nothing."""
    config, spelt, plain = (_object(files, name, where) for name in (CONFIG, MAP, ADDED))
    listed = config.get("added_tokens_decoder")
    if listed:
        # The other two files are of older tools, which could not list tokens with all that there is to say of them.
        made = {number: _token(token, f"{where}/{CONFIG}") for number, token in _items(listed, where)}
        named = config
    else:
        made = {number: AddedToken(token, normalized=True) for token, number in plain.items()}
        named = {**config, **spelt}
    added = {token.content: _number(number, token, where) for number, token in made.items()}
    roles = {role: _token(one, where) for role in ROLES if (one := named.get(f"{role}_token")) is not None}
    further = [_token(one, where) for key in ("additional", "extra") for one in _list(named, f"{key}_special_tokens")]
    known = [*roles.values(), *further]
    # Of one token, what the fuller file says holds.
    tokens = {one.content: one for one in ([*known, *made.values()] if listed else [*made.values(), *known])}
    return Said(where, config, {role: one.content for role, one in roles.items()}, tokens, added)


def _changes(form: Form, config: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The fields of a form that settings change, by their paths."""
    for key, path in _paths(form).items():
        if config.get(key) is not None:
            yield path, config[key]
    match form.vocabulary:
        case Pieces(quotes=True) if "keep_accents" in config:
            yield "vocabulary.strip_accents", not config["keep_accents"]
        case Bytes() if config.get("add_bos_token") and form.one == "A" and form.bos:
            yield from (("one", "bos A"), ("pair", "bos A bos:1 B:1"))
        case _:
            pass
    if HOLE.format(0) in form.further and "extra_ids" in config:
        yield "further", tuple(HOLE.format(number) for number in reversed(range(_holes(config["extra_ids"]))))


def _holes(count: Any) -> int:
    if not isinstance(count, int) or not 0 <= count <= MOST_HOLES:
        raise FieldError("extra_ids", f"must be a whole number from 0 to {MOST_HOLES:,}, not {brief(count)}")
    return count


def _paths(form: Form) -> dict[str, str]:
    """Where in a form each setting is kept that its kind has."""
    match form.vocabulary:
        case WordPiece():
            words = {
                "do_lower_case": "lowercase",
                "strip_accents": "strip_accents",
                "tokenize_chinese_chars": "chinese",
            }
            return {key: f"vocabulary.words.{field}" for key, field in words.items()}
        case Bytes(trimmed=True):
            return {"add_prefix_space": "vocabulary.space", "trim_offsets": "vocabulary.trimmed"}
        case Bytes():
            return {"add_prefix_space": "vocabulary.space"}
        case Pieces(quotes=True):
            return {"add_prefix_space": "vocabulary.space", "do_lower_case": "vocabulary.lowercase"}
        case Pieces(shifted=True):
            return {"src_lang": "language"} if form.language else {"add_prefix_space": "vocabulary.space"}
        case Suffixed(XlmWords()):
            return {"do_lowercase_and_remove_accent": "vocabulary.words.bare"}
        case Whole(MosesWords()):
            return {"lower_case": "vocabulary.words.lowercase", "language": "vocabulary.words.language"}
        case _:
            return {}


def _object(files: Mapping[str, bytes], name: str, where: str) -> dict[str, Any]:
    """The JSON object that a file holds; an empty one where there is no such file."""
    content = files.get(name, b"{}")
    if len(content) > LARGEST_JSON:
        raise ArtefactError(f"{where}/{name}: refused, because no such file has more than {LARGEST_JSON >> 20} MiB")
    try:
        data = json.loads(content.decode())
    except json.JSONDecodeError as error:
        raise ArtefactError(f"{where}/{name}:{error.lineno}:{error.colno}: not JSON ({error.msg})") from None
    except (ValueError, RecursionError) as error:
        raise ArtefactError(f"{where}/{name}: cannot be read ({error}); fetch or write it again") from None
    if not isinstance(data, dict):
        raise ArtefactError(f"{where}/{name}: must hold a JSON object")
    return cast("dict[str, Any]", data)


def _items(data: Any, where: str) -> Iterator[tuple[Any, Any]]:
    if not isinstance(data, dict):
        raise ArtefactError(f"{where}/{CONFIG}: added_tokens_decoder must be a JSON object, not {brief(data)}")
    yield from cast("dict[str, Any]", data).items()


def _list(named: Mapping[str, Any], key: str) -> list[Any]:
    """The tokens listed under a key; some tools keep tokens by name there."""
    found = named.get(key)
    if isinstance(found, dict):
        return list(cast("dict[str, Any]", found).values())
    return cast("list[Any]", found) if isinstance(found, list) else []


def _token(data: Any, where: str) -> AddedToken:
    """A special token, of which more may be said than its spelling."""
    if isinstance(data, str):
        return AddedToken(data, special=True, normalized=False)
    fields = cast("dict[str, Any]", data) if isinstance(data, dict) else {}
    flags = {flag: fields[flag] for flag in FLAGS if flag in fields}
    if not isinstance(fields.get("content"), str) or not all(isinstance(flag, bool) for flag in flags.values()):
        raise ArtefactError(f"{where}: {brief(data)} is no token with its content and how it is found")
    return AddedToken(fields["content"], **{"special": True, **flags})


def _number(number: Any, token: AddedToken, where: str) -> int:
    plain = str(number)
    if not plain.isdecimal() or len(plain) > 10:
        raise ArtefactError(
            f"{where}: the added token {brief(token.content)} needs an id from 0 up, not {brief(number)}"
        )
    return int(plain)
