"""Gemini generateContent."""
