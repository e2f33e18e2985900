"""Probes of this machine, one a module. A probe that can't tell says why."""
