"""A loop for those who have none: tools, turns, limits, on top of the one pipe."""
