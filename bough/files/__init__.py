"""The room of files: folders read without trust and written whole or not at all, and what pip fetches; no torch."""
