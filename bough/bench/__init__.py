"""The room of benchmarks: the same work side by side with the peers that are installed, in one run, as ratios.

A work is one small module here that lays out its data and says how each tool does it (`work`), or how one thing is done
in several ways at ever greater lengths; `engine` interleaves, times and compares them; `document` is what comes of it,
and `show` and `plot` are ways to look at that.
"""

from bough.bench.document import Document
from bough.bench.encode import encode
from bough.bench.engine import bench
from bough.bench.feed import feed
from bough.bench.grow import grow
from bough.bench.recur import recur
from bough.bench.tokenize import tokenize
from bough.bench.work import Effort, Opener

__all__ = ["OWN", "WORKS", "Document", "Effort", "bench"]

WORKS: dict[str, Opener] = {"encode": encode, "feed": feed, "grow": grow, "recur": recur, "tokenize": tokenize}
"""Every work there is, by name; registering one here is all that makes it run, shown and listed."""
OWN = ("feed", "grow", "recur", "tokenize")
"""Those whose sequences and architecture are their own."""
