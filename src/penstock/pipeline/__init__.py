"""From bytes to searchable chunks: parse, split, embed, index, and the run that keeps each stage."""
