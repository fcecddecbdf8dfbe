"""WHAT AN EXAMPLE IS: from code fragment to frozen release."""
