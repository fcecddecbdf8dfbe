"""Which licence a wheel's metadata or a repository's files name, as an SPDX identifier where it is certain; pure."""

from __future__ import annotations

import re
import tomllib
from email.parser import HeaderParser
from typing import NamedTuple

FILE_NAMES = re.compile(
    r"(?:un)?licen[cs]e(?:[.-](?:txt|md|rst|mit|apache|bsd))?|copying(?:\.(?:txt|md))?", re.I
)
CLASSIFIERS = {
    "MIT License": "MIT",
    "Apache Software License": "Apache-2.0",
    "Python Software Foundation License": "PSF-2.0",
    "ISC License (ISCL)": "ISC",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "The Unlicense (Unlicense)": "Unlicense",
    "GNU General Public License v3 (GPLv3)": "GPL-3.0-only",
    "GNU General Public License v2 (GPLv2)": "GPL-2.0-only",
}
NAMES = {
    "MIT": r"(?:the )?MIT(?: licen[cs]e)?",
    "Apache-2.0": r"apache(?: licen[cs]e|-)?,? ?(?:version |v)?2(?:\.0)?",
    "BSD-3-Clause": r"(?:new|modified|revised|3-clause) bsd(?: licen[cs]e)?|bsd[- ]3[- ]clause(?: licen[cs]e)?",
    "BSD-2-Clause": r"(?:simplified|2-clause) bsd(?: licen[cs]e)?|bsd[- ]2[- ]clause(?: licen[cs]e)?",
    "ISC": r"ISC(?: licen[cs]e)?",
}
# Sentences that only this licence has, in text whose white space is one blank each.
SENTENCES = (
    ("MIT", "Permission is hereby granted, free of charge, to any person obtaining a copy"),
    ("Apache-2.0", "Apache License Version 2.0, January 2004"),
    ("MPL-2.0", "Mozilla Public License Version 2.0"),
    ("AGPL-3.0", "GNU AFFERO GENERAL PUBLIC LICENSE Version 3"),
    ("LGPL-3.0", "GNU LESSER GENERAL PUBLIC LICENSE Version 3"),
    ("LGPL-2.1", "GNU LESSER GENERAL PUBLIC LICENSE Version 2.1"),
    ("GPL-3.0", "GNU GENERAL PUBLIC LICENSE Version 3"),
    ("GPL-2.0", "GNU GENERAL PUBLIC LICENSE Version 2"),
    (
        "ISC",
        "Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee",
    ),
    ("Unlicense", "This is free and unencumbered software released into the public domain"),
)
BSD = "Redistribution and use in source and binary forms"
BSD_3 = re.compile(r"Neither the names? of|may not be used to endorse or promote products")


class Metadata(NamedTuple):
    """What a wheel says of itself."""

    name: str
    version: str
    licence: str


def of_metadata(text: str) -> Metadata:
    """Return name, version and licence of a wheel's METADATA; the licence is "" where it names none for certain."""
    headers = HeaderParser().parsestr(text)
    licence = (headers.get("License-Expression") or "").strip()
    if not licence:
        licence = named(headers.get("License") or "")
    if not licence:
        told = [each for each in headers.get_all("Classifier") or [] if each.startswith("License ::")]
        found = {CLASSIFIERS.get(each.rpartition(" :: ")[2], "") for each in told}
        licence = found.pop() if len(found) == 1 else ""
    return Metadata(headers.get("Name", ""), headers.get("Version", ""), licence)


def of_text(text: str) -> str:
    """Return the licence whose text this is, "" where it is none that is known."""
    flat = " ".join(text.split())
    if BSD in flat:
        return "BSD-3-Clause" if BSD_3.search(flat) else "BSD-2-Clause"
    folded = flat.casefold()
    return next((name for name, sentence in SENTENCES if sentence.casefold() in folded), "")


def of_project(text: str) -> str:
    """Return the licence that a pyproject.toml names, "" where it names none or is no TOML."""
    try:
        project = tomllib.loads(text).get("project", {})
    except tomllib.TOMLDecodeError:
        return ""
    value = project.get("license", "") if isinstance(project, dict) else ""
    told = value.get("text", "") if isinstance(value, dict) else value
    return named(told) or of_text(told) if isinstance(told, str) else ""


def named(told: str) -> str:
    """Return the identifier for what a person wrote in a licence field; an identifier stays, a text is looked at."""
    told = told.strip()
    for name, pattern in NAMES.items():
        if re.fullmatch(pattern, told, re.IGNORECASE):
            return name
    if re.fullmatch(r"[A-Za-z]+(?:-[A-Za-z0-9.]+)+", told):
        return told
    return of_text(told)


def is_licence_file(name: str) -> bool:
    """Return whether a file of this name, at the top of a repository, holds its licence."""
    return FILE_NAMES.fullmatch(name) is not None
