"""GENERATE: the steps, one module each; each adds a round to a fragment, or brings it to its end."""
