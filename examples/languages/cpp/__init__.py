"""C++'s ways."""
