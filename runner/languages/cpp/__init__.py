"""The C++ profile."""
