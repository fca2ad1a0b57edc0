"""What a GPU needs beside NumPy's vocabulary: what CuPy lacks or does otherwise, in one place.

Nearly everything reaches CuPy by itself: NEP 13 and NEP 18 hand ``np.exp(a)``
and ``np.where(m, a, b)`` to the library whose array ``a`` is.  The exceptions:

* several values for one place: :func:`~autokit.gpu.lacking.combine_at`
* running results of other than sums and products: :func:`~autokit.gpu.lacking.accumulate`
* quotients of floats, rounded before they are rounded down: :func:`~autokit.gpu.lacking.floor_divide`,
  :func:`~autokit.gpu.lacking.remainder`
* an index beyond the end wraps around in silence: :func:`~autokit.gpu.lacking.outside`
* ``np.zeros_like(a, shape=())`` has the shape of ``a``: :func:`~autokit.gpu.lacking.like`
* it has no ``max(initial=…)``, and no ``linalg.vector_norm``: :func:`~autokit.gpu.lacking.largest`,
  :func:`~autokit.gpu.lacking.vector_norm`
* ``linalg`` raises for no matrix unless it is told to: :func:`~autokit.gpu.lacking.raising`
* it solves no systems of other batches than its own: :func:`~autokit.gpu.lacking.solve`
* special functions are those of SciPy, in another module: :func:`~autokit.gpu.lacking.special_functions`
* an array without dimensions has no dimension 0 to reduce: ``dims_of`` of ``base.errors`` gives ``()``
"""
