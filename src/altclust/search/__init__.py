"""Choosing σ, λ, q and k without labels, and how significant what was found is."""
