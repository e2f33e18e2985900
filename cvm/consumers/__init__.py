"""CUDA consumers: what each would load when it is imported, read from its own files and played through the model.

A consumer is a package (or one ELF file) that loads CUDA libraries. Its recipe drives a `Session`: a process of the
model in which every load is a `Step`, with the code that makes it. Nothing is imported, nothing is run.
"""
