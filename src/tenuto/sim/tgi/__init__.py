"""Text Generation Inference's own API, as the simulator speaks it."""
