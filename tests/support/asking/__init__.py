"""Asking a simulator through the official SDK of each wire, bare or wrapped, and judging what it gives.

A module is named by its wire, and has what asks (`AnthropicAsker`), the same through a client that
recovers (`WrappedAnthropic`), and what makes a stream one message. What all have in common stands in
`openai_chat` and `wrapping`. `sharing_openai_chat` and `native_paths` ask providers that speak it too.
"""
