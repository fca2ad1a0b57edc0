"""What every other room stands on: dtypes, devices, sizes, printing, errors, settings, the generator."""
