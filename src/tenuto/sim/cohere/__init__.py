"""Cohere's Chat of version 2."""
