"""`python -m cvm`."""

from cvm.cli.start import run

if __name__ == "__main__":
    run()
