"""Cohere's Chat, version 2."""
