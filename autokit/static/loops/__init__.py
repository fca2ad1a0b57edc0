"""Compiled loops: what a group of calls becomes where Numba is installed."""
