"""What a running system tells: counts in shared memory, a page of metrics, spans, and facts for its logs.

A worker process counts into memory it shares with its supervisor, and imports nothing for it. The supervisor
adds up what its living and dead children counted and serves it, so prometheus-client is loaded once, not in
every worker, and a worker killed in the middle of a job has still told all it had counted. Files of counts
per process, prometheus-client's own way, cost two writes an observation and a clean-up after every death.
"""
