"""Static graphs: a program is defined first, and run afterwards."""
