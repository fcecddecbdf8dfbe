"""The parts every page is drawn from: each function returns finished, escaped markup for one class of site.css."""
