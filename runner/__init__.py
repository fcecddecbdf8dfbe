"""CODE IN, OUTCOME OUT: knows no example and no person."""
