"""Storing: rows as tokens on the disk, made once and found again by fingerprint; no torch."""
