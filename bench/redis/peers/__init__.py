"""Eight queues on Redis, a module each, used as its own documentation shows and tuned as far as it says how.

Each offers `submit(kind, value)`, `worker_argv()` and `JOBS`, how many no-ops it drains in a few seconds;
some `bulk(count)`, where the library has a call for many; some `opened()`, a connection to make first.
"""
