"""Search for σ, λ, q and k without labels, and tests of the significance of the result."""
