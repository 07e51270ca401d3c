"""Checks before work starts: virtual environment, services, disk space, commands of the project. In comes what is
asked for; out come findings, each with what mends it. A check that cannot run is listed as such and has not
passed.
"""
