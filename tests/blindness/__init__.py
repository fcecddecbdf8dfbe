"""Blindness: what an annotator, a stranger or an anonymous visitor must never be sent, tried on every route there is."""
