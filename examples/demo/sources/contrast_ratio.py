"""How well one colour can be read on another, by the rules of WCAG 2."""

import re

HEX = re.compile(r"#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})")
WEIGHTS = (0.2126, 0.7152, 0.0722)


def parse_colour(text):
    """Return red, green and blue, 0 to 255, of a colour such as '#fa0' or '#ffaa00'."""
    match = HEX.fullmatch(text.strip())
    if not match:
        raise ValueError(f"not a colour: {text!r}")
    digits = match[1]
    if len(digits) == 3:
        digits = "".join(digit * 2 for digit in digits)
    return tuple(int(digits[at : at + 2], 16) for at in (0, 2, 4))


def luminance(colour):
    """Return the relative luminance of a colour, 0 for black and 1 for white."""
    parts = []
    for value in colour:
        share = value / 255
        parts.append(share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4)
    return sum(weight * part for weight, part in zip(WEIGHTS, parts))


def contrast_ratio(a, b):
    """Return the contrast of two colours, 1.0 to 21.0, rounded to two places."""
    lighter, darker = sorted((luminance(parse_colour(a)), luminance(parse_colour(b))), reverse=True)
    return round((lighter + 0.05) / (darker + 0.05), 2)


def is_readable(text, background, large=False):
    """Return whether text may be printed so: 4.5 to 1, or 3 to 1 for large letters."""
    return contrast_ratio(text, background) >= (3 if large else 4.5)


def test_contrast_ratio():
    assert contrast_ratio("#000", "#fff") == 21.0
    assert contrast_ratio("#ffffff", "#000000") == 21.0
    assert contrast_ratio("#777", "#777777") == 1.0
    assert contrast_ratio("#f00", "#fff") == 4.0
    assert contrast_ratio("00f", "#FFF") == 8.59
    assert contrast_ratio("#0a0a0a", "#000") == 1.06
    assert is_readable("#767676", "#fff")
    assert not is_readable("#777", "#fff")


if __name__ == "__main__":
    test_contrast_ratio()
