"""Objects whose uses are not counted: what a zygote holds, so that a fork which only uses it copies no page for that."""

from __future__ import annotations

import ctypes
import gc
import sys

IMMORTAL = 0xFFFFFFFF


def keep_for_good() -> None:
    """Make all objects there are immortal (PEP 683), where this interpreter knows how.

    Who only uses an object writes to it, since it is counted, and after a fork each first write to a page copies the
    page: a quarter of the faults of a short sample. What the zygote holds lives as long as it does anyway.
    """
    if sys.byteorder != "little":
        return  # the count is written elsewhere
    probe = object()
    _uncounted(id(probe))
    if _counted(probe):
        return
    known = set[int]()
    left: list[object] = gc.get_objects()
    while left:
        each = left.pop()
        if id(each) not in known:
            known.add(id(each))
            left += gc.get_referents(each)
    for address in known - {id(known), id(left)}:
        _uncounted(address)


def _uncounted(address: int) -> None:
    """Write into an object that it is immortal."""
    ctypes.c_uint32.from_address(address).value = IMMORTAL


def _counted(probe: object) -> bool:
    """Return whether uses of an object are still counted."""
    before = sys.getrefcount(probe)
    uses = [probe] * 9
    return sys.getrefcount(probe) - before == len(uses)
