"""Handlers of a worker that dies as soon as it is started; its supervisor, which loads them too, lives."""

import os
import sys
import time

from penstock.work.handlers import Handlers
from tests.support.handlers_for_tests import MARKS

BIRTHS = ".births"
"""What the file with the time of every start is called, behind the name of the file of marks."""

handlers = Handlers()

_spec = sys.modules["__main__"].__spec__
if _spec is not None and _spec.name == "penstock.doors.child":
    with open(os.environ[MARKS] + BIRTHS, "a", encoding="utf-8") as births:
        births.write(f"{time.monotonic()}\n")
    os._exit(7)
