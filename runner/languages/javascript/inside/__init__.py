"""What runs in the box: a starter in Python, the reporter in JavaScript."""
