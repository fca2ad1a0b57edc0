"""What CuPy lacks, or does otherwise than NumPy: the rules of operations call this in NumPy's place.

Nearly everything else is NumPy's vocabulary and reaches CuPy by itself: NEP 13
and NEP 18 hand ``np.exp(a)`` and ``np.where(m, a, b)`` to the library whose
array ``a`` is.  The exceptions, each with its test in ``tests/gpu/test_lacking.py``:

* several values for one place: CuPy adds there in some dtypes, and multiplies in none:
  :func:`~autokit.ops.gpu.ufuncs.add_at`, :func:`~autokit.ops.gpu.ufuncs.combine_at`
* running results of other than sums and products, and those of runs of other than sums:
  :func:`~autokit.ops.gpu.ufuncs.accumulate`, :func:`~autokit.ops.gpu.ufuncs.reduceat`
* quotients of floats are rounded before they are rounded down: :func:`~autokit.ops.gpu.ufuncs.floor_divide`,
  :func:`~autokit.ops.gpu.ufuncs.remainder`
* an index beyond the end wraps around in silence: :func:`~autokit.ops.gpu.bounds.refuse_outside`,
  :func:`~autokit.ops.gpu.bounds.outside`
* an integer divided by 0 is a number: :func:`~autokit.ops.gpu.bounds.refuse_zeros`
* ``np.zeros_like(a, shape=())`` has the shape of ``a``: :func:`~autokit.ops.gpu.arrays.like`
* without dimensions there is no dimension 0 to reduce: :func:`~autokit.ops.gpu.arrays.reduced`
* ``flags`` says nothing of writing: :func:`~autokit.ops.gpu.arrays.is_writable`
* ``linalg`` raises for no matrix unless it is told to: :func:`~autokit.ops.gpu.arrays.raising`
* it solves no systems of other batches than its own: :func:`~autokit.ops.gpu.arrays.solve`
* special functions are SciPy's, under its names: :func:`~autokit.ops.gpu.arrays.special`

What CuPy has, but takes many kernels or copies for, is here too:

* products of batches: :mod:`~autokit.ops.gpu.products`
* weighted sums of runs of several lengths: :mod:`~autokit.ops.gpu.runs`
* convolution, of which NumPy's tiles would take a hundred: :mod:`~autokit.ops.gpu.correlate`, with
  :func:`~autokit.ops.gpu.correlate.correlate`, :func:`~autokit.ops.gpu.correlate.correlate_input_gradient`
  and :func:`~autokit.ops.gpu.correlate.correlate_weight_gradient`
* attention, by the lines of :mod:`autokit.ops.attention`: :mod:`~autokit.ops.gpu.attention`
* a rule's own lines as one kernel: :mod:`~autokit.ops.gpu.kernels` where each element is by itself, or one
  sum is taken; :mod:`~autokit.ops.gpu.rows` where several are taken of each row (written by
  :mod:`~autokit.ops.gpu.row_code`, run by :mod:`~autokit.ops.gpu.row_kernels`); :mod:`~autokit.ops.gpu.many`
  for all parameters of a model at once

Sorting needs nothing: CuPy takes ``kind="stable"``.  Random numbers are PyTorch's of the CPU, drawn there and
copied (:mod:`autokit.random`).  When an error of a GPU is told, and which GPU computes, is below the
operations: :mod:`autokit.late_errors`, :mod:`autokit.current_gpu`, :mod:`autokit.devices`.
"""
