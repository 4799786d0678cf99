"""Eigenvectors of Φ and of the kernel."""
