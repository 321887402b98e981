"""The layouts that vocabularies come in, a function for each: from the files of a folder and a form to a tokenizer."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping

import tokenizers
from tokenizers import AddedToken, models

from bough.errors import ArtefactError
from bough.families.forms import Bytes, Form, Pieces, Suffixed, TwoSides, Whole, WordPiece
from bough.families.words import MosesWords, XlmWords
from bough.record import brief
from bough.text.assemble import add_specials, assembled, frame, looked_up
from bough.text.encoding import Finder
from bough.text.guard import guarded, hushed
from bough.text.reading.moses import moses_finder, xlm_finder
from bough.text.reading.pieces import piece_finder
from bough.text.reading.said import Said
from bough.text.reading.sentencepiece import (
    CONTROL,
    DEFINED,
    NORMAL,
    UNKNOWN,
    Piece,
    PieceModel,
    merges_of,
    read_pieces,
)
from bough.text.reading.vocabularies import listed, merges, numbered
from bough.text.specials import Specials
from bough.text.tokenizer import Tokenizer

Files = Mapping[str, bytes]
WORDS, NUMBERED, MERGES, TARGET_NUMBERED = "vocab.txt", "vocab.json", "merges.txt", "target_vocab.json"
PIECES = ("spiece.model", "sentencepiece.bpe.model")
SOURCE, TARGET = "source.spm", "target.spm"
LETTERS = "".join(chr(code) for code in range(1, 2**16) if not 0xD800 <= code < 0xE000)
"""What a table of what to normalise is tried on."""


def read(files: Files, said: Said, form: Form) -> Tokenizer | None:
    """The tokenizer of these files; None where none of those is there that the form's kind has."""
    match form.vocabulary:
        case WordPiece():
            return _word_piece(files, said, form) if _has(files, said, WORDS) else None
        case Suffixed(XlmWords() as words):
            return _xlm(files, said, form, words) if _has(files, said, NUMBERED, MERGES) else None
        case Bytes() | Suffixed():
            return _merged(files, said, form) if _has(files, said, NUMBERED, MERGES) else None
        case Pieces():
            name = next((name for name in PIECES if name in files), None)
            return _of_pieces(files[name], f"{said.where}/{name}", said, form) if name else None
        case TwoSides():
            return _two_sides(files, said, form) if _has(files, said, SOURCE, TARGET, NUMBERED) else None
        case Whole(MosesWords() as words):
            return _whole(files, said, form, words) if _has(files, said, WORDS) else None
        case _:
            return None


def finished(
    inner: tokenizers.Tokenizer,
    said: Said,
    form: Form | None,
    where: str,
    find: Finder | None = None,
    target: Tokenizer | None = None,
) -> Tokenizer:
    """A tokenizer with its special tokens by role: as the folder says, or its form, or as they are usually spelt."""
    roles = {**(form.roles if form else {}), **said.roles}
    known = {role: token for role, token in roles.items() if inner.token_to_id(token) is not None}
    named = dataclasses.asdict(Specials.named(known, inner.token_to_id))
    specials = dataclasses.replace(
        Specials.guessed(inner.token_to_id), **{role: number for role, number in named.items() if role in known}
    )
    language = said.config.get("tgt_lang")
    if form and form.language and isinstance(language, str):
        # What is written in has the word of another language around it.
        other, written = tokenizers.Tokenizer.from_str(inner.to_str()), form.but(language=language)
        _check(written, inner.get_vocab(), where)
        frame(other, written)
        target = Tokenizer(other, specials, where=where)
    return Tokenizer(inner, specials, target=target, find=find, where=where)


def _has(files: Files, said: Said, *names: str) -> bool:
    """Whether all of these files are there; some without the others is an error."""
    missing = [name for name in names if name not in files]
    if missing and len(missing) < len(names):
        there = ", ".join(name for name in names if name in files)
        raise ArtefactError(f"{said.where}: has {there} but no {', '.join(missing)}; fetch the whole folder")
    return not missing


def _word_piece(files: Files, said: Said, form: Form) -> Tokenizer:
    where = f"{said.where}/{WORDS}"
    vocabulary = listed(files[WORDS], where)
    _check(form, vocabulary, where)
    model = guarded(lambda: models.WordPiece(vocabulary, unk_token=form.unk or ""), where, ArtefactError)
    return finished(_with_added(assembled(form, model), said, form), said, form, where)


def _merged(files: Files, said: Said, form: Form) -> Tokenizer:
    where = f"{said.where}/{NUMBERED}"
    vocabulary = numbered(files[NUMBERED], where)
    pairs = merges(files[MERGES], f"{said.where}/{MERGES}", known=vocabulary)
    _check(form, vocabulary, where)
    marks = {} if isinstance(form.vocabulary, Bytes) else {"unk_token": form.unk, "end_of_word_suffix": "</w>"}
    model = guarded(lambda: models.BPE(vocab=vocabulary, merges=pairs, **marks), where, ArtefactError)
    return finished(_with_added(assembled(form, model), said, form), said, form, where)


def _xlm(files: Files, said: Said, form: Form, words: XlmWords) -> Tokenizer:
    where = f"{said.where}/{NUMBERED}"
    vocabulary = numbered(files[NUMBERED], where)
    pairs = merges(files[MERGES], f"{said.where}/{MERGES}", counted=True)
    find = xlm_finder(words, _apart(form, said), pairs)
    return finished(_looked_up(vocabulary, said, form, where), said, form, where, find)


def _whole(files: Files, said: Said, form: Form, words: MosesWords) -> Tokenizer:
    where = f"{said.where}/{WORDS}"
    vocabulary = listed(files[WORDS], where, counted=True)
    form = form.but(unk="<UNK>") if "<UNK>" in vocabulary else form
    find = moses_finder(words, _apart(form, said))
    return finished(_looked_up(vocabulary, said, form, where), said, form, where, find)


def _two_sides(files: Files, said: Said, form: Form) -> Tokenizer:
    theirs = TARGET_NUMBERED if said.config.get("separate_vocabs") else NUMBERED
    if theirs not in files:
        raise ArtefactError(f"{said.where}: has no {theirs}, which its settings speak of; fetch the whole folder")
    return _side(files, said, form, SOURCE, NUMBERED, _side(files, said, form, TARGET, theirs))


def _side(
    files: Files, said: Said, form: Form, pieces: str, numbers: str, target: Tokenizer | None = None
) -> Tokenizer:
    """One side of a translator, by the names of its pieces and of their numbers."""
    where, place = f"{said.where}/{numbers}", f"{said.where}/{pieces}"
    inner = _looked_up(numbered(files[numbers], where), said, form, where)
    find = piece_finder(read_pieces(files[pieces], place), _apart(form, said), place)
    return finished(inner, said, form, where, find, target)


def _of_pieces(content: bytes, where: str, said: Said, form: Form) -> Tokenizer:
    """A vocabulary as a SentencePiece file has it, with the special tokens that a family keeps beside the file."""
    model = _with_specials(read_pieces(content, where), form, where)
    _check(form, {piece.text for piece in model.pieces}, where)
    with hushed():
        inner = guarded(lambda: assembled(form, _model_of(model), model.charsmap), where, ArtefactError)
        # A table that is damaged only shows where it is used, and then as a panic.
        guarded(lambda: inner.encode(LETTERS), where, ArtefactError)
    inner.add_special_tokens(
        [AddedToken(piece.text, normalized=False) for piece in model.pieces
         if piece.kind == CONTROL and piece.text not in form.specials]
    )  # fmt: skip
    inner.add_tokens([AddedToken(piece.text, normalized=False) for piece in model.pieces if piece.kind == DEFINED])
    return finished(_with_added(inner, said, form), said, form, where)


def _with_specials(model: PieceModel, form: Form, where: str) -> PieceModel:
    """The pieces of a file in the places that a family gives them."""
    pieces = list(model.pieces)
    if isinstance(form.vocabulary, Pieces) and form.vocabulary.shifted:
        if len(pieces) < 4 or any(piece.kind == NORMAL for piece in pieces[:3]):
            raise ArtefactError(f"{where}: must begin with three special pieces; it is not of this family")
        kinds = [UNKNOWN if token == form.unk else CONTROL for token in form.front]
        pieces[:3] = [Piece(token, 0.0, kind) for token, kind in zip(form.front, kinds, strict=True)]
    spelt = {piece.text for piece in pieces}
    pieces += [Piece(token, 0.0, CONTROL) for token in form.back if token not in spelt]
    return dataclasses.replace(model, pieces=tuple(pieces))


def _model_of(model: PieceModel) -> models.Model:
    if model.merges:
        numbers = {piece.text: number for number, piece in enumerate(model.pieces)}
        unknown = model.pieces[model.unknown].text
        return models.BPE(
            vocab=numbers, merges=merges_of(model), unk_token=unknown, fuse_unk=True, byte_fallback=model.byte_fallback
        )
    scores = [(piece.text, piece.score) for piece in model.pieces]
    return models.Unigram(scores, unk_id=model.unknown, byte_fallback=model.byte_fallback)


def _looked_up(vocabulary: Mapping[str, int], said: Said, form: Form, where: str) -> tokenizers.Tokenizer:
    _check(form, vocabulary, where)
    inner = guarded(lambda: looked_up(form, vocabulary), where, ArtefactError)
    add_specials(inner, form)
    frame(inner, form)
    return _with_added(inner, said, form)


def _apart(form: Form, said: Said) -> list[str]:
    """What is found in a text before its words are."""
    return list(dict.fromkeys([*form.specials, *said.tokens]))


def _with_added(inner: tokenizers.Tokenizer, said: Said, form: Form) -> tokenizers.Tokenizer:
    """With the tokens that were added to the vocabulary, each at the id that the folder says."""
    add_specials(inner, form, said.tokens)
    for token, number in sorted(said.added.items(), key=lambda one: one[1]):
        inner.add_tokens([said.tokens[token]])
        found = inner.token_to_id(token)
        if found != number:
            added = f"{brief(token)} was added with the id {number}, where it can only be {found}"
            raise ArtefactError(f"{said.where}: says that {added}; fetch the whole folder")
    return inner


def _check(form: Form, known: Collection[str], where: str) -> None:
    """Raise where a vocabulary lacks what stands for the unknown, or around texts."""
    around = [form.roles[name] for pair in (False, True) for name, _ in form.template(pair) if name in form.roles]
    unknown = [] if isinstance(form.vocabulary, Bytes) else [form.unk]
    missing = next((token for token in (*unknown, *around) if token is not None and token not in known), None)
    if missing is not None:
        what = "what it does not know" if missing in unknown else "what stands around texts"
        raise ArtefactError(f"{where}: has no {brief(missing)} for {what}; name its token in tokenizer_config.json")
