"""CHECK: what is found out about a version by execution or analysis, one module per check, each with evidence."""
