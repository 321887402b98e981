"""Reading: from files of any format to rows, each with its place, and to labels; no torch."""
