"""What everything rests on: errors, arrays of any library, validation, threads and processes, memory."""
