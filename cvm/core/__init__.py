"""The pure centre: values and decisions, computed from arguments alone."""
