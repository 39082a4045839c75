"""How well, and how fast, the real store and the bundled model find what was asked for."""

from penstock.engines.system.cores import one_core_a_product

one_core_a_product()  # as the program's own doors do, before numpy is loaded
