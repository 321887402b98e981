"""The room of text: tokenizers, from text to ids and back."""

from bough.text.tokenizer import Encoding, Tokenizer

__all__ = ["Encoding", "Tokenizer"]
