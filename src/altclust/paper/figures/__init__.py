"""The paper's figures, one module each: ``make(out)`` writes a PNG and a JSON file and returns a `Section`."""
