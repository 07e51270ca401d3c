"""Answering an agent's open dialog because a person said so.

In comes the screen of an agent that waits; out comes the dialog with its choices and an identity. A choice is taken
only while exactly that dialog is open: the server compares its rows in the command that presses the key. Nothing here
chooses.
"""
