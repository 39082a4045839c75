"""Real servers for the tests: the one a `TEST_…_URL` names, else a process of our own on a free port."""
