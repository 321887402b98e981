"""The room of the trunk: an architecture as torch modules. Only the spec and a packed batch come in.

Shapes are written T for tokens, W for width, H for heads, D for a head's width, N for sequences, V for the vocabulary.
"""

from bough.core.build import build, empty
from bough.core.draw import fresh
from bough.core.net import Net, Stack

__all__ = ["Net", "Stack", "build", "empty", "fresh"]
