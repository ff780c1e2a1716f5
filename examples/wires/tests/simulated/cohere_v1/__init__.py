"""Cohere's chat version 1."""
