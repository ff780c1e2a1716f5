"""Gemini's Interactions API."""
