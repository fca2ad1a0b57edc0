"""Arrays that carry one array for each of many samples: what ``vmap`` runs on.

``batch`` has the array and its place among nested batches, ``places`` its
indexing, and ``rules`` and ``products`` what NumPy's functions do with it;
the last two are loaded by the first ``vmap``.
"""

from autokit.batches.batch import Batch, Level, NotBatched, active, full_of, levels_of, newest, wrap

__all__ = ["Batch", "Level", "NotBatched", "active", "full_of", "levels_of", "newest", "wrap"]
