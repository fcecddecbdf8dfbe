"""JavaScript's and C++'s ways alike: the open function, answers, and the visible part of tests; found by brackets."""
