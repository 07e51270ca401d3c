"""What coding agents write down of their conversations, in Midwatch's terms.

Lines (or rows) of one agent's format come in, in the order in which they were written. A TranscriptState comes out.
It says at any moment how far the conversation has come. Nothing is refused: lines that are cut off, garbled or of a
kind that a later version invented are passed over, so the state is always what the readable lines say.

The words, flat text for the rules of an agent's file. Always there:

``event``         what happened last: ``prompt`` (someone spoke to it, or a turn was started by itself), ``text``,
                  ``thinking``, ``tool-call``, ``tool-result``, ``turn-ended``, ``turn-failed``, ``interrupted``,
                  ``limit`` (the turn failed and the source says until when), ``limit-over`` (that has ended, and a
                  person must say that it goes on), ``compacted``; empty before the first
``open``          names of tool calls without a result, by commas, in the order of the calls; empty when there are none
``conversation``  its id, by which the agent can resume it
``path``          where it was read
``size``          grows whenever anything was written, by a sub-agent too: bytes, for a database the time of the last
                  change in milliseconds

Only where the source tells them:

``error``         its own word for what failed (`rate_limit`, `usage_limit_exceeded`, `APIError`), until the next prompt
``status``        the HTTP status of that error
``message``       its text for people, cut short
``until``         when a limit ends, as the source words it: `10:29pm (UTC)`, `Nov 20th, 2026 10:33 PM`, `in 3h12m`, or
                  seconds since the epoch
``continues``     when it goes on by itself after a limit, as the source words it; only while it means to
``tokens``        output tokens so far
``background``    shells, agents and workflows that go on after the turn
``cwd``, ``version``
"""
