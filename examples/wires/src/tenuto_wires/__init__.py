"""Wires of rare APIs: Cohere's version 1, DashScope's own, and watsonx.ai's."""
