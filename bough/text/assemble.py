"""From a family's form and a vocabulary to a tokenizer of the tokenizers library: for reading and training alike."""

from __future__ import annotations

import functools
from collections.abc import Mapping

import tokenizers
from tokenizers import AddedToken, decoders, models, normalizers, pre_tokenizers, processors

from bough.errors import ArtefactError, BoughError
from bough.families.forms import Bytes, Form, Letters, Pieces, Suffixed, TwoSides, Whole, WordPiece
from bough.families.words import Cleaned
from bough.text.guard import guarded

SPACE = "▁"
"""What SentencePiece writes for a space."""
BYTE = "<0x00>"
"""How a vocabulary that falls back to bytes spells the first of them."""


def assembled(form: Form, model: models.Model, charsmap: bytes | None = None) -> tokenizers.Tokenizer:
    """The tokenizer of a form; without its templates while the model has no vocabulary, as before training.

    `charsmap` is a SentencePiece model's table of what to normalise, empty for nothing. Where it is not known, that is
    what its makers' own default does.
    """
    inner = tokenizers.Tokenizer(model)
    match form.vocabulary:
        case Whole(Cleaned() as words):
            _clean(inner, words)
        case WordPiece(words):
            _clean(inner, words)
            inner.decoder = decoders.WordPiece(prefix="##")
        case Suffixed(Cleaned() as words):
            _clean(inner, words)
            inner.decoder = decoders.BPEDecoder(suffix="</w>")
        case Bytes(space):
            inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=space)
            inner.decoder = decoders.ByteLevel()
        case Letters() | Pieces(exact=True):
            _keep(inner, form.vocabulary)
        case Pieces() as pieces:
            _normalise(inner, pieces, charsmap)
            _mark_spaces(inner, pieces.space)
        case TwoSides():
            _normalise(inner, Pieces(), charsmap)
            _mark_spaces(inner, space=True)
        case Suffixed():
            # Its words, like those below, are found in Python and come here with spaces between them.
            inner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
            inner.decoder = decoders.BPEDecoder(suffix="</w>")
        case _:
            inner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    if inner.get_vocab_size() > 1:  # an untrained model has at most the token for what is unknown
        add_specials(inner, form)
        frame(inner, form)
    return inner


def looked_up(form: Form, vocabulary: Mapping[str, int]) -> tokenizers.Tokenizer:
    """The tokenizer of a form whose pieces are found in Python, and only have to be looked up."""
    inner = tokenizers.Tokenizer(models.WordLevel(dict(vocabulary), unk_token=form.unk or ""))
    match form.vocabulary:
        case TwoSides():
            inner.decoder = decoders.Metaspace(replacement=SPACE, prepend_scheme="always")
        case Suffixed():
            inner.decoder = decoders.BPEDecoder(suffix="</w>")
        case _:
            # Between words it puts spaces; then come marks that were cut out of words and numbers.
            marks = [decoders.Replace(f" @{mark}@ ", mark) for mark in "-,."]
            inner.decoder = decoders.Sequence([decoders.WordPiece(prefix="\0", cleanup=False), decoders.Fuse(), *marks])
    return inner


def add_specials(inner: tokenizers.Tokenizer, form: Form, said: Mapping[str, AddedToken] = {}) -> None:
    """Let the special tokens that the vocabulary has be found in texts, and be left out of decoded ones.

    They are those of the form, and those of which something is `said`, which then holds.
    """
    eager = {form.roles[role] for role in form.eager if role in form.roles}
    plain = {token: AddedToken(token, lstrip=token in eager, normalized=False) for token in form.specials}
    for token in {**plain, **said}.values():
        if inner.token_to_id(token.content) is None:
            continue
        if token.content in plain or token.special:
            inner.add_special_tokens([token])
        else:
            inner.add_tokens([token])


def frame(inner: tokenizers.Tokenizer, form: Form) -> None:
    """Put the form's special tokens around texts."""
    roles = form.roles
    wanted = {roles[name] for pair in (False, True) for name, _ in form.template(pair) if name in roles}
    missing = sorted(token for token in wanted if inner.token_to_id(token) is None)
    if missing:
        raise BoughError(f"the vocabulary has no {', '.join(missing)}, to stand around texts; add a line for each")
    one, pair = (
        [f"{roles.get(name) or '$' + name}:{segment}" for name, segment in form.template(both)]
        for both in (False, True)
    )
    make = functools.partial(
        processors.TemplateProcessing,
        single=one,
        pair=pair,
        special_tokens=[(token, inner.token_to_id(token)) for token in sorted(wanted)],
    )
    template = guarded(make, f"the template {form.one!r}", ArtefactError)
    match form.vocabulary:
        case Bytes(space, trimmed=True):
            trim = processors.ByteLevel(trim_offsets=True, add_prefix_space=space)
            inner.post_processor = processors.Sequence([trim, template])
        case _:
            inner.post_processor = template


def _clean(inner: tokenizers.Tokenizer, words: Cleaned) -> None:
    inner.normalizer = normalizers.BertNormalizer(
        clean_text=True,
        handle_chinese_chars=words.chinese,
        strip_accents=words.strip_accents,
        lowercase=words.lowercase,
    )
    inner.pre_tokenizer = pre_tokenizers.BertPreTokenizer()


def _keep(inner: tokenizers.Tokenizer, vocabulary: Letters | Pieces) -> None:
    """Leave nothing of a text out, so that it comes back as it was."""
    steps: list[decoders.Decoder] = [decoders.ByteFallback(), decoders.Fuse()]
    if isinstance(vocabulary, Letters):
        inner.pre_tokenizer = pre_tokenizers.Split(tokenizers.Regex(r"\s+|\S+"), "isolated")
    else:
        inner.pre_tokenizer = pre_tokenizers.Metaspace(replacement=SPACE, prepend_scheme="never")
        steps = [decoders.Replace(SPACE, " "), *steps]
    inner.decoder = decoders.Sequence(steps)


def _normalise(inner: tokenizers.Tokenizer, pieces: Pieces, charsmap: bytes | None) -> None:
    steps: list[normalizers.Normalizer] = []
    if pieces.quotes:
        steps += [normalizers.Replace("``", '"'), normalizers.Replace("''", '"')]
    if pieces.strip_accents:
        steps += [normalizers.NFKD(), normalizers.StripAccents()]
    if pieces.lowercase:
        steps += [normalizers.Lowercase()]
    if charsmap is None:
        steps += [normalizers.Nmt(), normalizers.NFKC()]
    elif charsmap:
        steps += [normalizers.Precompiled(charsmap)]
    inner.normalizer = normalizers.Sequence(steps)


def _mark_spaces(inner: tokenizers.Tokenizer, space: bool) -> None:
    scheme = "always" if space else "never"
    inner.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace(replacement=SPACE, prepend_scheme=scheme)]
    )
    if inner.token_to_id(BYTE) is None:
        inner.decoder = decoders.Metaspace(replacement=SPACE, prepend_scheme=scheme)
    else:
        inner.decoder = decoders.Sequence(
            [decoders.Replace(SPACE, " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", int(space), 0)]
        )
