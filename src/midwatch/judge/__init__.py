"""Decisions, and nothing else: facts come in, a verdict goes out.

Every function here is pure. The same facts give the same verdict, whichever face asks, so any verdict can be
explained (`why`) and replayed. Time is an argument. Nothing here reads a file, a clock or a process.
"""
