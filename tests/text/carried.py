"""Folders such as checkpoints carry: small vocabularies trained here, in the files that each family keeps them in."""

from __future__ import annotations

import io
import json
import struct
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import sentencepiece
import tokenizers
from scripts import SENTENCES, corpus
from tokenizers import models, normalizers, pre_tokenizers, trainers

from bough.families import FAMILIES
from bough.families.forms import Form

MODEL_TYPES = {one.name: one.model_type for one in FAMILIES.values()}
LETTERS = sorted({letter for lines in SENTENCES.values() for line in lines for letter in line if letter != " "})


def form(family: str) -> Form:
    """How a family writes text."""
    found = FAMILIES[family].text
    assert found
    return found


def write(folder: Path, **files: Any) -> None:
    """Files by name, a point for each double underscore; what is no text or bytes is written as JSON."""
    folder.mkdir(parents=True, exist_ok=True)
    for key, content in files.items():
        text = content if isinstance(content, (str, bytes)) else json.dumps(content, ensure_ascii=False, indent=1)
        (folder / key.replace("__", ".")).write_bytes(text.encode() if isinstance(text, str) else text)


def word_pieces(folder: Path, family: str, **config: Any) -> None:
    """BERT's layout: a token on each line."""
    roles = form(family)
    inner = tokenizers.Tokenizer(models.WordPiece(unk_token=roles.unk or ""))
    inner.normalizer = normalizers.BertNormalizer(lowercase=config.get("do_lower_case", True))
    inner.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(
        vocab_size=1500, special_tokens=list(roles.front), initial_alphabet=LETTERS, show_progress=False
    )
    inner.train_from_iterator(corpus(), trainer)
    tokens = sorted(inner.get_vocab().items(), key=lambda one: one[1])
    write(folder, vocab__txt="".join(f"{token}\n" for token, _ in tokens))
    told(folder, family, **config)


def merged(folder: Path, family: str, **config: Any) -> None:
    """GPT's and GPT-2's layout: a number for each token, and merges; those are of bytes, or end words with a mark."""
    roles, in_bytes = form(family), family != "gpt"
    inner = tokenizers.Tokenizer(
        models.BPE(**({} if in_bytes else {"unk_token": roles.unk, "end_of_word_suffix": "</w>"}))
    )
    bytewise = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.pre_tokenizer = bytewise if in_bytes else pre_tokenizers.BertPreTokenizer()
    if not in_bytes:
        inner.normalizer = normalizers.BertNormalizer(lowercase=True)
    trainer = trainers.BpeTrainer(
        vocab_size=1200, special_tokens=[*roles.front, *roles.back], show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet() if in_bytes else LETTERS,
        **({} if in_bytes else {"end_of_word_suffix": "</w>"}),
    )  # fmt: skip
    inner.train_from_iterator(corpus(), trainer)
    folder.mkdir(parents=True, exist_ok=True)
    inner.model.save(str(folder))
    told(folder, family, **config)


def xlm(folder: Path, family: str = "xlm", **config: Any) -> None:
    """XLM's layout: merges with counts behind them, of which some make what the vocabulary does not have."""
    roles = form(family)
    inner = tokenizers.Tokenizer(models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"))
    inner.pre_tokenizer = pre_tokenizers.Whitespace()
    trainer = trainers.BpeTrainer(
        vocab_size=2500,
        special_tokens=["<unk>"],
        show_progress=False,
        initial_alphabet=LETTERS,
        end_of_word_suffix="</w>",
    )
    inner.train_from_iterator([*corpus(), *(line.lower() for line in corpus())], trainer)
    model = json.loads(inner.to_str())["model"]
    learned = sorted(model["vocab"], key=model["vocab"].get)
    kept = [token for number, token in enumerate(learned) if token != "<unk>" and number % 11]
    vocabulary = {token: number for number, token in enumerate([*roles.front, *kept])}
    lines = [f"{' '.join(pair)} {1000 - number}\n" for number, pair in enumerate(model["merges"])]
    write(folder, vocab__json=vocabulary, merges__txt="".join(lines))
    told(folder, family, **config)


def sentence_pieces(lines: Sequence[str], size: int = 900, **options: Any) -> bytes:
    """A SentencePiece model's file."""
    kept = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=kept, vocab_size=size, character_coverage=1.0, minloglevel=2,
        hard_vocab_limit=False, num_threads=1, **options,
    )  # fmt: skip
    return kept.getvalue()


def unshifted(folder: Path, family: str, **config: Any) -> None:
    """ALBERT's and T5's layout: a SentencePiece model that has the special tokens where the family wants them."""
    front = form(family).front
    places: dict[str, Any] = {f"{role}_id": -1 for role in ("bos", "eos", "pad")}
    places |= {"pad_id": front.index("<pad>"), "unk_id": front.index("<unk>"), "pad_piece": "<pad>"}
    places |= {"eos_id": front.index("</s>")} if "</s>" in front else {}
    further = [token for token in front if token not in ("<pad>", "<unk>", "</s>")]
    places |= {"control_symbols": further} if further else {}
    lower = family == "albert"
    lines = [line.lower() for line in corpus()] if lower else corpus()
    write(folder, spiece__model=sentence_pieces(lines, **places))
    told(folder, family, **config)


def shifted(folder: Path, family: str, *, rule: str = "nmt_nfkc", **config: Any) -> None:
    """XLM-RoBERTa's and mBART's layout: a SentencePiece model as its trainer makes it; others stand in front."""
    write(folder, sentencepiece__bpe__model=sentence_pieces(corpus(), normalization_rule_name=rule))
    told(folder, family, **config)


def two_sides(folder: Path, family: str = "transformer", kind: str = "unigram", **config: Any) -> None:
    """Marian's layout: a model for each side, and one list of numbers, which has not quite all of their pieces."""
    sides = {"source": corpus(), "target": [line[::-1] for line in corpus()]}
    options: dict[str, Any] = {"bos_id": -1, "eos_id": 0, "unk_id": 1, "model_type": kind}
    for name, lines in sides.items():
        content = sentence_pieces(lines, 700, **options)
        write(folder, **{f"{name}__spm": content})
        sides[name] = pieces_of(content)
    joint = dict.fromkeys([*form(family).front, ">>fr<<", *sorted({*sides["source"][:-20], *sides["target"][5:]})])
    write(folder, vocab__json={token: number for number, token in enumerate([*joint, "<pad>"])})
    told(folder, family, source_lang="en", target_lang="fr", **config)


def pieces_of(content: bytes) -> list[str]:
    """The pieces of a SentencePiece model, as its makers' own library has them."""
    model = sentencepiece.SentencePieceProcessor(model_proto=content)
    return [model.id_to_piece(number) for number in range(model.get_piece_size()) if not model.is_control(number)]


def field(number: int, content: bytes) -> bytes:
    """A field of a SentencePiece model's file, as it is written."""
    assert len(content) < 128
    return bytes([number << 3 | 2, len(content)]) + content


def piece(text: bytes, score: float = 0.0, kind: int = 1) -> bytes:
    """A piece in such a file."""
    return field(1, field(1, text) + b"\x15" + struct.pack("<f", score) + bytes([0x18, kind]))


def told(folder: Path, family: str, **config: Any) -> None:
    """What every folder has: the family's name, and the tokenizer's settings where there are some."""
    write(folder, config__json={"model_type": MODEL_TYPES[family]})
    if config:
        write(folder, tokenizer_config__json=config)


LAYOUTS: dict[str, Callable[[Path, str], None]] = {
    "bert": word_pieces, "distilbert": word_pieces, "gpt": merged, "gpt2": merged, "roberta": merged, "bart": merged,
    "albert": unshifted, "t5": unshifted, "xlm-roberta": shifted, "mbart": shifted, "xlm": xlm,
    "transformer": two_sides,
}  # fmt: skip
"""Every family that its tools still have, and what writes its files."""
