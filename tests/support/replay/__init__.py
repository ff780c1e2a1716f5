"""A provider that says what a test wrote down (`R`), and a wrapped SDK in front of it (`Played`), by
wire; the server and what all have in common stand in `openai_chat`."""
