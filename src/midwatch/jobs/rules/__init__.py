"""The state of a job, its attempts, stalls, and ends without a shim. Pure; time is an argument."""
