"""Thresholds on the normalised mutual information of two clusterings (0: independent, 1: identical)."""

INDEPENDENT = 0.05  # below: the report calls a view almost independent of the given clusterings
ALTERNATIVE = 0.3  # up to: the search and the report accept a view as different from the given clusterings
RESEMBLES = 0.5  # above: a fit and the web app warn that the view resembles a given clustering
DISTINCT = 0.6  # from here on: two methods of a comparison found the same clusters
VERY_SIMILAR = 0.7  # above: the report calls a view very similar to a given clustering
