"""What stands beside the acceptance list: for each way of it, the others by which one may try the same.

Modules by the sections of the list; the number in a name is the row the case stands beside.
"""

from __future__ import annotations

from tests.runner.neighbours.forging import FORGING
from tests.runner.neighbours.leaving import LEAVING
from tests.runner.neighbours.processes import PROCESSES
from tests.runner.neighbours.reaching import REACHING
from tests.runner.neighbours.resources import RESOURCES
from tests.runner.neighbours.texts import TEXTS

NEIGHBOURS = [*LEAVING, *FORGING, *PROCESSES, *RESOURCES, *REACHING, *TEXTS]
