"""Ollama's `/api/chat` and `/api/generate`, as the simulator speaks them."""
