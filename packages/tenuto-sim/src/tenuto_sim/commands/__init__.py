"""The commands of the simulator: `tenuto sim` and `tenuto faults`."""
