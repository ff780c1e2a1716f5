"""Bedrock's InvokeModel, in the shape of OpenAI's chat and in that of Nova's messages, as the
simulator speaks it."""
