"""Charts of models and training, drawn by matplotlib on axes that the caller may pass in.

====================================  ==========================================================
:func:`gradient_flow`                 how large the gradients are, parameter by parameter
:func:`activations`                   how the outputs of the layers are spread
:func:`activation_gradients`          and the gradients that come back to them
:func:`loss_landscape`                the loss around the weights, along random directions
:func:`heatmap`                       a matrix, with zero in the middle
:func:`heatmaps`                      several of them in a grid, in one scale
:func:`attention`                     how each token spreads its attention, head by head
:func:`convolution`                   a kernel that slides over a matrix, forward and back
:func:`nudges`                        the error of a difference quotient against its step
:func:`memory`                        the bytes alive, forward and back
:func:`axes`                          empty axes, for a chart of one's own in the same style
====================================  ==========================================================

Each returns the axes that it drew on, and draws the same picture on every run.  Importing this loads no
matplotlib: that happens with the first chart.
"""

from __future__ import annotations

from autokit.plot.convolutions import convolution
from autokit.plot.figures import axes
from autokit.plot.heatmaps import attention, heatmap, heatmaps
from autokit.plot.landscape import loss_landscape
from autokit.plot.memory import memory
from autokit.plot.models import activation_gradients, activations, gradient_flow
from autokit.plot.nudges import nudges

__all__ = [
    "activation_gradients",
    "activations",
    "attention",
    "axes",
    "convolution",
    "gradient_flow",
    "heatmap",
    "heatmaps",
    "loss_landscape",
    "memory",
    "nudges",
]
