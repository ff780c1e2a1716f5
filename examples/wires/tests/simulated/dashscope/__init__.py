"""DashScope's own API for Qwen's models."""
