"""The command of the agent: `tenuto run`."""
