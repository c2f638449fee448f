# SPDX-License-Identifier: Apache-2.0
"""Texts of the pictures have a contrast of at least 4.5 (WCAG 2) to a white page and, after @media, to a dark one.

Usage: contrast.py PICTURE.svg...
"""
import re
import sys


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


for name in sys.argv[1:]:
    for page, style in zip(("ffffff", "0d1117"), open(name).read().split("</style>")[0].split("@media")):
        colours = re.findall(r"(?:text|\.s){[^}]*fill:#(\w{6})", style)
        assert len(colours) == 2, style
        for dark, light in (sorted((luminance(page), luminance(colour))) for colour in colours):
            contrast = (light + 0.05) / (dark + 0.05)
            assert contrast >= 4.5, f"{name}: a text on #{page} has a contrast of {contrast:.2f}; 4.5 is wanted"
