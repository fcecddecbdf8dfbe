"""One package per language: how its source is taken apart and put together. Masking and assembly build on it."""
