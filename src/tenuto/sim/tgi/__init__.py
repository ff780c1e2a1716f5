"""Text Generation Inference's own API."""
