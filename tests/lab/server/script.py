r"""What a prompt asks the model to do.

`[[verb words]]` is one act. Acts joined by a plus sign (`[[think 3]]+[[bash ls]]`) make one reply; replies that follow
each other are given one per model call: `[[bash ls]] [[bash pwd]] [[text all done]]` runs two tools and then speaks.

    [[text WORDS]]            say WORDS; \n \t \e \\ \[ \] are what they look like
    [[say FILE [N]]]          say, in N seconds, what stands in FILE of the replies directory (and not in the prompt)
    [[think N]]               N seconds of reasoning, in the protocol's own thinking events
    [[slow N]]                the stream is open, N seconds of nothing but keep-alives
    [[wait N]]                not one byte for N seconds; then what follows
    [[stream N [WORDS]]]      text dribbles for N seconds
    [[bash CMD]]              call the shell tool; [[bash !CMD]] asks Codex for leave to go outside its sandbox
    [[write PATH [CONTENT]]]  call the tool that writes a file
    [[ask QUESTION | A | B]]  call the tool that asks the user a question
    [[tool NAME {json}]]      call any tool; ((…)) inside stands for [[…]], for scripts of sub-agents
    [[status CODE [K]]]       HTTP error, for ever or K times
    [[refuse CODE WORDS]]     HTTP error that says WORDS, for ever
    [[retryafter CODE S]]     HTTP error with a retry-after header of S seconds, for ever
    [[ratelimit S]]           429 of an API key, with the headers that say when it ends (in S seconds)
    [[limit S [weekly]]]      the limit of a subscription, which ends in S seconds
    [[util P [S]]]            say something, with headers that P percent of the plan are used; it ends in S seconds
    [[hang]] [[hangmid]]      never answer; start to answer and then fall silent for ever
    [[cut]] [[streamerr T]]   start to answer, then close the connection; … then send an error of type T
"""

from __future__ import annotations

import re
from typing import NamedTuple

GREETING = "Hello from the fake model."
AFTER_TOOL = "Tool finished. OK."

_DIRECTIVE = re.compile(r"\[\[(\w+)(?:\s+(.*?))?\]\]", re.DOTALL)
_ESCAPE = re.compile(r"\\([nte\\\[\]])")
_ESCAPED = {"n": "\n", "t": "\t", "e": "\x1b"}


class Act(NamedTuple):
    verb: str
    words: str = ""

    def __str__(self) -> str:
        return f"[[{self.verb} {self.words}]]" if self.words else f"[[{self.verb}]]"


Reply = tuple[Act, ...]


def replies(prompt: str) -> list[Reply]:
    """All replies that a prompt scripts, in order."""
    found: list[Reply] = []
    end = -1
    for match in _DIRECTIVE.finditer(prompt):
        act = Act(match[1], (match[2] or "").strip())
        if found and prompt[end : match.start()] == "+":
            found[-1] = (*found[-1], act)
        else:
            found.append((act,))
        end = match.end()
    return found


def reply(prompt: str, step: int) -> Reply:
    """The reply to the model call after `step` tool results; polite where the script says nothing (more)."""
    scripted = replies(prompt)
    if step < len(scripted):
        return scripted[step]
    return (Act("text", AFTER_TOOL if step else GREETING),)


def scripted(prompt: str) -> bool:
    return _DIRECTIVE.search(prompt) is not None


def meant(prompt: str, otherwise: list[str]) -> str:
    """The prompt itself where it scripts anything; else the first script whose first line is found in it."""
    for each in otherwise if not scripted(prompt) else []:
        words, _, found = each.partition("\n")
        if words in prompt:
            return found
    return prompt


def unescape(words: str) -> str:
    return _ESCAPE.sub(lambda found: _ESCAPED.get(found[1], found[1]), words)


def nested(words: str) -> str:
    """A script within a script: `((text hi))` for `[[text hi]]`."""
    return words.replace("((", "[[").replace("))", "]]")
