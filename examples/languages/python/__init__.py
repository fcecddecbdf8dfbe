"""Python's ways: positions in source text, definitions, tests, indentation, answers."""
