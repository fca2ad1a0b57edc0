"""CuPy computes on a GPU with NumPy's functions; this package replaces the few that it lacks or changes.

A rule calls NumPy alone: NEP 13 and NEP 18 dispatch ``np.exp(a)`` and ``np.where(m, a, b)`` to CuPy where
``a`` is an array of CuPy's.  The exceptions, and the functions that serve arrays of both:

* several values for one place of an array: :func:`~autokit.gpu.lacking.combine_at`
* running results other than sums and products: :func:`~autokit.gpu.lacking.accumulate`
* quotients of floats, which are rounded before they are rounded down:
  :func:`~autokit.gpu.lacking.floor_divide`, :func:`~autokit.gpu.lacking.remainder`
* an index beyond the end, which wraps around in silence: :func:`~autokit.gpu.lacking.outside`
* ``np.zeros_like(a, shape=())``, which has the shape of ``a``: :func:`~autokit.gpu.lacking.like`
* ``max(initial=…)`` and ``linalg.vector_norm``, which are missing: :func:`~autokit.gpu.lacking.largest`,
  :func:`~autokit.gpu.lacking.vector_norm`
* ``linalg``, which raises no error by default: :func:`~autokit.gpu.lacking.raising`
* ``linalg.solve``, which does not broadcast batches: :func:`~autokit.gpu.lacking.solve`
* ``linalg.lstsq`` of batches, which NumPy lacks too: :func:`~autokit.gpu.lacking.lstsq`
* SciPy's special functions, which are in another module: :func:`~autokit.gpu.lacking.special_functions`
* an array without dimensions has no dimension 0 to reduce: ``dims_of`` of ``base.errors`` gives ``()``
"""
