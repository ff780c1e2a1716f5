"""OpenAI's Completions, the one before Chat, as the simulator speaks it."""
