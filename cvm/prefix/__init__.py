"""One working CUDA_HOME, the prefix, out of unpacked archives."""
