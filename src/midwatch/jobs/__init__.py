"""Background work under a shim, adopted work, and steps of foreign directories. In come their files and processes;
out comes one verdict for each, with its evidence. Starting, stopping and recording an end are done here.
"""
