"""Tests of the tree itself: what the rooms, files and package must look like, whatever the code does."""
