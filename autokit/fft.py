"""Discrete Fourier transforms, as ``torch.fft``.

The rules stand in ``autokit.ops.fourier``; here they have their names.
"""

from __future__ import annotations

from autokit.missing import names_of
from autokit.ops import fourier
from autokit.ops.names import found_by_pickle, public
from autokit.ops.signatures import looked_at

_NAMES = """
    fft fft2 fftfreq fftn fftshift hfft hfft2 hfftn ifft ifft2 ifftn ifftshift ihfft ihfft2 ihfftn irfft
    irfft2 irfftn rfft rfft2 rfftfreq rfftn
"""

__all__ = [*_NAMES.split()]

__getattr__ = names_of("torch.fft")

globals().update({name: looked_at(f"fft_{name}", public(getattr(fourier, name))) for name in __all__})
found_by_pickle(__name__, globals())
