"""FAIRNESS: whether tests are fair to solutions, found from what was executed; pure functions over rows."""
