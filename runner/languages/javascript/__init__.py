"""The JavaScript profile."""
