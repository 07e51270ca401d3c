"""The command line: parser, table of commands, output, and one module per command. It asks the features and prints
what they say; it decides nothing. Data goes to standard output, all else to standard error.
"""
