"""FRAGMENTS: pieces of source code with a target function, found in files that nobody executes; pure but for reading."""
