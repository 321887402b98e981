"""Reading: a tokenizer from whatever files a checkpoint carries."""
