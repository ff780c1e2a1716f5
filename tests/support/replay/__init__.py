"""A provider that says what a test wrote down, and a wrapped SDK in front of it, by wire."""
