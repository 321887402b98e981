"""The room of text: tokenizers, from text to ids and back."""

from bough.text.encoding import Encoding, Word
from bough.text.limits import Limit
from bough.text.specials import Specials
from bough.text.template import Template
from bough.text.tokenizer import Tokenizer

__all__ = ["Encoding", "Limit", "Specials", "Template", "Tokenizer", "Word"]
