"""REPLAY: an attempt seen again by a curator: what happened when, the code at each moment, and the same as rows."""
