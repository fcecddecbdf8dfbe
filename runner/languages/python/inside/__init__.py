"""What the Python profile runs inside the box: loading, driving and reporting; standard library only."""
