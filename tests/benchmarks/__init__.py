"""Benchmarks: ``python -m tests.benchmarks`` prints ratios to peers, all from one run.

They assert no times.  Peers that are not installed are left out of the table:
``pip install torch==2.13.0 mygrad autograd jax`` brings them all.
"""
