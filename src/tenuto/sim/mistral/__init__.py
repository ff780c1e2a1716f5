"""Mistral's chat."""
