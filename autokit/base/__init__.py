"""The files that all others use: dtypes, devices, sizes, printing, errors, settings, random numbers."""
