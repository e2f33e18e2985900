"""cvm: a version manager for the CUDA toolchain."""

__version__ = "0.1.0"
