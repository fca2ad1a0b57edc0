"""A stand-in for CuPy that computes on the CPU and is as strict as CuPy is.

A GPU is rarely at hand, but most mistakes of GPU code are not about the GPU:
an array is converted behind one's back, a NumPy array slips in, a scalar is
expected where CuPy gives an array of no dimensions, a function or a keyword
is used that CuPy has not.  :class:`ndarray` makes each of these an error, as
CuPy 14 does:

* it refuses ``__array__``, and NumPy arrays beside it;
* functions are reached by NEP 13 and NEP 18 only where CuPy has a function of
  that name with those parameters (``cupy_names.json``, read from CuPy itself);
* ufuncs compute in the dtypes that CuPy's tables list (:mod:`.ufuncs`);
* ``ufunc.at``, ``.accumulate`` and ``.reduceat`` are there for few ufuncs and dtypes;
* reductions and single elements stay arrays;
* an index beyond the end wraps around, and of several values that are written
  to one place not the last one stays.

Every copy of more than one element to the CPU is noted in :data:`copies`, so
that a test can say that there was none.  :func:`installed` puts the stand-in
in CuPy's place.
"""

from tests.gpu.standin.arrays import ndarray
from tests.gpu.standin.module import installed, module
from tests.gpu.standin.notes import NAMES, copies

__all__ = ["NAMES", "copies", "installed", "module", "ndarray"]
