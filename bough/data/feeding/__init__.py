"""Feeding: batches by a budget of tokens, in one order for any number of processes, resumable behind each."""
