"""OpenAI's Completions, the one before Chat."""
