"""What a GPU needs beside NumPy's vocabulary: what CuPy lacks or does otherwise, in one place."""
