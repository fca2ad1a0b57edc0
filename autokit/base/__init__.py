"""What every other room stands on: dtypes, devices, sizes, printing, errors, settings and the random generator."""
