"""From a question to an answer with citations: search, fusion, prompt, chat."""
