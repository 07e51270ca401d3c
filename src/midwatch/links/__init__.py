"""Other people's systems, spoken to in their own language: what is to be said comes in, whether it arrived goes out.

A link may be down, slow or gone for good; that is an answer, never an exception, and never later than the time that it
was given. Links know nothing of our files and decide nothing. What is written to them may be read by anyone, so it is
cleaned before it comes here, and what they need to know of secrets stands on no command line.
"""
