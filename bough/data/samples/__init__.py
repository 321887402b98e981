"""Samples: data that can be had by name, made or fetched once and checked every time; no torch."""
