"""RELEASE: draft a selection of versions, let them through the gate, freeze them with hashes, hand the files out."""
