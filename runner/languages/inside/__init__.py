"""What the boxes of several languages have in common. Standard library only."""
