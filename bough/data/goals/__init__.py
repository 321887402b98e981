"""Goals: what each objective makes of examples, laid out as a net reads them, with what it should come to say."""
