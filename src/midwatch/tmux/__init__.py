"""The only package that builds a tmux command line. Every client passes the socket gate first. Answers are parsed
into panes and screens; a server that does not answer gives an error, never an empty list.
"""
