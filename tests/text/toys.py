"""Small tokenizers of every kind that the literature names, made here; no test of the handle needs more of them."""

from __future__ import annotations

import argparse
import functools
import inspect
from collections.abc import Callable

import tokenizers
from tokenizers import decoders, models, normalizers, pre_tokenizers, processors, trainers

LETTERS = "abcdefghijklmnopqrstuvwxyz"
ROLES = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
RUNS = tuple("a" * 2**n for n in range(1, 9))
"""A letter again and again, so that a run of it has merges to be joined by."""


def wordpiece() -> tokenizers.Tokenizer:
    """Pieces of words as BERT has them, every letter among them."""
    pieces = [*ROLES, *LETTERS, *(f"##{one}" for one in LETTERS), "the", "##ing", "aa", "##aaaa"]
    inner = tokenizers.Tokenizer(models.WordPiece({one: i for i, one in enumerate(pieces)}, unk_token="[UNK]"))
    inner.normalizer = normalizers.BertNormalizer()
    inner.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    inner.add_special_tokens(list(ROLES))
    inner.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return inner


@functools.cache
def _merged() -> str:
    """Merges of bytes, learned from a program and from runs of a letter."""
    inner = tokenizers.Tokenizer(models.BPE())
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    trainer = trainers.BpeTrainer(
        vocab_size=1500,
        show_progress=False,
        special_tokens=special,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
    )
    inner.train_from_iterator([inspect.getsource(argparse), *RUNS * 9], trainer)
    return inner.to_str()


def merges() -> tokenizers.Tokenizer:
    """Merges of bytes, with what RoBERTa puts around texts."""
    inner = tokenizers.Tokenizer.from_str(_merged())
    inner.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=False)
    return inner


def bare_merges() -> tokenizers.Tokenizer:
    """Merges of bytes with nothing around texts, as GPT-2 has them."""
    return tokenizers.Tokenizer.from_str(_merged())


def letters() -> tokenizers.Tokenizer:
    """A character at a time, those of the alphabet."""
    pieces = ["<unk>", *LETTERS, " "]
    return tokenizers.Tokenizer(models.BPE({one: i for i, one in enumerate(pieces)}, [], unk_token="<unk>"))


def suffixed() -> tokenizers.Tokenizer:
    """Merges of characters, the end of each word marked, as GPT has them; special tokens as XLM has them."""
    pieces = ["<s>", "</s>", "<pad>", "<unk>", *LETTERS, *(f"{one}</w>" for one in LETTERS), *RUNS]
    joined = [(one[: len(one) // 2],) * 2 for one in RUNS]
    inner = tokenizers.Tokenizer(
        models.BPE({one: i for i, one in enumerate(pieces)}, joined, unk_token="<unk>", end_of_word_suffix="</w>")
    )
    inner.normalizer = normalizers.BertNormalizer()
    inner.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    inner.post_processor = processors.TemplateProcessing(
        "<s> $A </s>", "<s> $A </s> $B:1 </s>:1", [("<s>", 0), ("</s>", 1)]
    )
    return inner


def unigram(template: tuple[str, str] = ("$A </s>", "$A </s> $B </s>")) -> tokenizers.Tokenizer:
    """Pieces with a score each, as T5 has them; other templates make it another's."""
    pieces = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), ("▁", -2.0), ("en_XX", 0.0)]
    pieces += [(one, -4 - i / 10) for i, one in enumerate(LETTERS)] + [("▁the", -3.0), ("ing", -3.5)]
    pieces += [("a" * n, -3 - n / 2) for n in range(2, 17)]
    inner = tokenizers.Tokenizer(models.Unigram(pieces, unk_id=2))
    inner.normalizer = normalizers.NFKC()
    inner.pre_tokenizer = pre_tokenizers.Metaspace()
    inner.add_special_tokens(["<pad>", "</s>", "<unk>", "en_XX"])
    inner.post_processor = processors.TemplateProcessing(*template, [("</s>", 1), ("en_XX", 4)])
    return inner


def languages() -> tokenizers.Tokenizer:
    """Pieces with the language behind the text, as mBART has them."""
    return unigram(("$A </s> en_XX", "$A $B </s> en_XX"))


def words() -> tokenizers.Tokenizer:
    """Whole words."""
    inner = tokenizers.Tokenizer(models.WordLevel({"<eos>": 0, "<unk>": 1, "the": 2, "a": 3}, unk_token="<unk>"))
    inner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return inner


KINDS: dict[str, Callable[[], tokenizers.Tokenizer]] = {
    one.__name__: one for one in (wordpiece, merges, bare_merges, letters, suffixed, unigram, languages, words)
}
