"""Edits of YAML files that leave every other byte as it is. In comes the text of a file and a change of its data;
out comes the new text, or an error. It knows nothing of Midwatch. The new text always reads as the old data
with the change applied.
"""
