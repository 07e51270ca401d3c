"""What happened while nobody looked: `midwatch report`.

The journal's events and one look at the present come in. Out comes, for each job and session, what it did in every
moment of a span: it worked, waited, was limited, was stuck, had nothing to do, or was not observed. A moment that
nobody watched is never called work.
"""
