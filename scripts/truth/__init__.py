"""Compare what `cvm doctor` says of Python environments with what happens in real processes."""
