"""REPRODUCE: published files through our runner, in boxes, beside what is known of them."""
