"""Linux: /proc, process trees, exit statuses, inotify, file locks, programs that are run with a deadline,
databases of others. The only package that calls subprocess. What cannot be seen is reported as unknown, never
as absent.
"""
