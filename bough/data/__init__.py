"""The room of data: from files to examples to packed batches, and the check before time is spent."""
