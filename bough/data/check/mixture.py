"""The mixture of scripts and languages, and the rows that are in another than the bulk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import floor

from bough.data.check.findings import Finding, Hits
from bough.data.check.kept import Kept, Numbered
from bough.data.check.tongues import language, script
from bough.data.check.wanted import Wanted

BULK = 0.9
"""What so large a share of the texts is in, the others should be in too."""
LOOKED_AT = 2000
"""Letters of a text, from its start, that are looked at."""
KINDS = ("script", "language")

Shares = dict[str, float]


class Mixture:
    """The texts that are in each script and language, by the side that they are on."""

    def __init__(self, wanted: Wanted) -> None:
        self._most = wanted.places
        self._seen: dict[str, dict[str, dict[str, Hits]]] = {}

    def read(self, rows: Sequence[Numbered]) -> None:
        """Look at the beginning of each text."""
        for one in rows:
            for side, text in one.texts:
                seen = self._seen.setdefault(side, {kind: {} for kind in KINDS})
                usual = max(seen["language"], key=lambda name: len(seen["language"][name]), default=None)
                start = text[:LOOKED_AT]
                for kind, name in (("script", script(start)), ("language", language(start, usual))):
                    if name is not None:
                        seen[kind].setdefault(name, Hits(self._most)).add(one.number)

    def shares(self) -> dict[str, dict[str, Shares]]:
        """For each side the shares of scripts, and of the languages that were plain to see; the largest first."""
        return {side: {kind: _shares(by) for kind, by in seen.items() if by} for side, seen in self._seen.items()}

    def found(self, kept: Kept) -> list[Finding]:
        """Texts that are in another script or language than the bulk."""
        return list(self._found(kept))

    def _found(self, kept: Kept) -> Iterator[Finding]:
        for side, kinds in self.shares().items():
            where = "" if side == "text" else f" in {side}"
            for kind, shares in kinds.items():
                (first, share), *others = shares.items()
                usually = f"where {floor(1000 * share) / 10}% are in {first}"  # rounded up to 100% it would be a lie
                for other, _ in others if share >= BULK else ():
                    hits = self._seen[side][kind][other]
                    what = f"{other} letters" if kind == "script" else other
                    yield from hits.rows("warning", kind, f"in {what}{where}, {usually}", kept)


def _shares(by: dict[str, Hits]) -> Shares:
    total = sum(map(len, by.values()))
    return {name: len(hits) / total for name, hits in sorted(by.items(), key=lambda one: (-len(one[1]), one[0]))}
