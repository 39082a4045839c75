"""Files on this machine: finding, capturing, moving and watching them."""

from penstock.engines.disk.blobs import DiskBlobs

__all__ = ["DiskBlobs"]
