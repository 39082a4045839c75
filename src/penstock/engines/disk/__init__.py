"""Files on this machine: finding, capturing, moving and watching them."""

from penstock.engines.disk.blobs import DiskBlobs
from penstock.engines.disk.moving import DiskMover
from penstock.engines.disk.walking import DiskFinder
from penstock.engines.disk.watching import DiskWatcher, Pace

__all__ = ["DiskBlobs", "DiskFinder", "DiskMover", "DiskWatcher", "Pace"]
