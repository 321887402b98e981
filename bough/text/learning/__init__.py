"""Learning: vocabularies from texts, their files, and what they do to a corpus."""
