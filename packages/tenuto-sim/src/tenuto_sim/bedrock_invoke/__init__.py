"""Bedrock's InvokeModel, in the shape of OpenAI's chat and of Nova's messages."""
