"""Shared foundations: errors, array libraries, validation, threads and processes, memory."""
