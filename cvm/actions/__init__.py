"""One use case a module: plain functions that take what they need and return frozen results."""
