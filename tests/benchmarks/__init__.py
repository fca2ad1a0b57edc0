"""Benchmarks: ``python -m tests.benchmarks`` prints ratios to PyTorch, all from one run.

They assert no times. Where PyTorch is not installed, the ratios are left out:
``pip install torch==2.13.0`` brings it.
"""
