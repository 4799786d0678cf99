"""Plots of a fitted view as matplotlib axes, which can be combined."""

from .report.plotting import plot_convergence, plot_crosstab, plot_features, plot_measurement, plot_views

__all__ = ["plot_convergence", "plot_crosstab", "plot_features", "plot_measurement", "plot_views"]
