"""JavaScript's ways."""
