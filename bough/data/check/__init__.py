"""The check before time is spent: what is wrong with a corpus, and what it will cost, found in one reading."""

from bough.data.check.findings import Finding, Spot
from bough.data.check.run import Report, check
from bough.data.check.wanted import Wanted

__all__ = ["Finding", "Report", "Spot", "Wanted", "check"]
