"""Reads JavaScript and C++ as far as a function's body can be found and cut between statements; pure.

It is no parser: it knows what a string, a comment and a bracket is. What it does not understand it skips up to the
closing bracket. Offsets count characters.
"""
