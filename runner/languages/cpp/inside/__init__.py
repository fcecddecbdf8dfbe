"""What runs in the box: the builder in Python, the harness in C++."""
