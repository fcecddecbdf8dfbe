"""What people may say, checked before a stage function hears of it."""
