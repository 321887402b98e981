"""The room of checkpoints: files to tensors and back, strictly; nothing is run, guessed or silently left out."""

from bough.checkpoints.load import Checkpoint, load
from bough.checkpoints.save import save

__all__ = ["Checkpoint", "load", "save"]
