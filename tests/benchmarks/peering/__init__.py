"""What the peers' bench runs elsewhere: in the container without network, and in the peers' own environments."""
