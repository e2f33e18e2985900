"""The checks, one a module: each has its codes in `CODES`, and `check(case)`, which yields findings."""
