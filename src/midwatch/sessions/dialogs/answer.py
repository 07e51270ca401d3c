"""Takes one choice of an open dialog: mark it, see it marked, press the key that takes it, see the dialog gone.

Every key goes through a guard of the tmux server: the dialog's rows, with the mark where it was seen, stand on the
screen at the moment of the key. What differs makes the server refuse, and nothing is typed. The last key is pressed
once.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from midwatch.core.errors import RefusedError, UsageError
from midwatch.sessions.dialogs.dialog_observer import DialogLook, DialogObserver, GoneError, ScreenLook
from midwatch.sessions.dialogs.model import AnswerOutcome, AnswerResult, Choice, ChoiceList, OpenDialog
from midwatch.sessions.find_agent import FoundAgent
from midwatch.sessions.prompting.pane_lock import PaneLock
from midwatch.tmux.pane_input import KeyTyper

PAUSE = 0.1
SETTLED = 0.3
"""Seconds between two looks that must show the same dialog: some agents take no key at the moment they draw it."""
PATIENCE = 5.0
"""Seconds for the dialog to settle, for a key to move the mark, for a text to appear."""
GONE = 10.0
"""Seconds for the dialog to go once the key was pressed."""

Say = Callable[[OpenDialog, Choice], None]


class _Refused(Exception):  # noqa: N818  # caught here, never an error of its own
    def __init__(self, outcome: str, reason: str, dialog: OpenDialog | None = None) -> None:
        super().__init__(reason)
        self.result = AnswerResult(outcome, reason, dialog)


class DialogAnswer:
    def __init__(self, there: FoundAgent, stopped: Callable[[], bool]) -> None:
        self.observer = DialogObserver(there)
        self.hand = KeyTyper(there.server, self.observer.pane)
        self.stopped = stopped
        self.moved = False
        """A key that only marks another choice, or a text, was typed."""

    def answer(self, number: int | None, text: str | None, expected: str, record: Say) -> AnswerResult:
        """Take the choice with that number in the dialog that is ``expected`` (by its id; empty: the open one).

        Without a number: the one choice that takes the text.

        ``record`` is called before anything is typed; what it raises keeps the answer from being given.
        """
        try:
            with PaneLock(self.observer.socket, self.observer.pane):
                return self._answer(number, text, expected, record)
        except _Refused as refused:
            return refused.result._replace(reason=f"{refused.result.reason}{self._left()}")
        except GoneError as error:
            return AnswerResult(AnswerOutcome.EXITED, str(error))
        except RefusedError as error:
            return AnswerResult(AnswerOutcome.REFUSED, f"{error}{self._left()}")

    def _left(self) -> str:
        return "; the mark was moved, nothing was selected" if self.moved else ""

    def look(self) -> AnswerResult:
        """The open dialog, or why none is shown; nothing is typed."""
        try:
            look = self.settle()
        except _Refused as refused:
            return refused.result
        except GoneError as error:
            return AnswerResult(AnswerOutcome.EXITED, str(error))
        except RefusedError as error:
            return AnswerResult(AnswerOutcome.REFUSED, str(error))
        if look.dialog is None:
            return AnswerResult(AnswerOutcome.NO_DIALOG, _describe_none(look), state=look.verdict.state)
        outcome = AnswerOutcome.OPEN if look.dialog.list is not None else AnswerOutcome.UNREADABLE
        reason = look.dialog.reason or look.verdict.reason
        return AnswerResult(outcome, reason, look.dialog, state=look.verdict.state)

    def settle(self) -> DialogLook:
        """The open dialog, seen twice."""
        before = self.observer.observe()
        deadline = time.monotonic() + PATIENCE
        while True:
            time.sleep(SETTLED)
            look = self.observer.observe()
            both = (before.dialog and before.dialog.id, look.dialog and look.dialog.id)
            if both[0] == both[1]:
                return look
            if self.stopped():
                raise _Refused(AnswerOutcome.INTERRUPTED, "interrupted before anything was typed")
            if time.monotonic() >= deadline:
                raise _Refused(AnswerOutcome.REFUSED, "the dialog changes whenever it is looked at; try again")
            before = look

    def _answer(self, number: int | None, text: str | None, expected: str, record: Say) -> AnswerResult:
        began = time.time()
        look = self.settle()
        dialog, choice = self._check(look, number, text, expected)
        record(dialog, choice)
        signature = look.screen.signature
        marked = self._mark(choice, signature, began)
        if text is not None:
            marked, signature = self._type(choice, text, marked, began)
        self._take(choice, text, marked, signature, began)
        return self._confirm(dialog, choice)

    def _check(
        self, look: DialogLook, number: int | None, text: str | None, expected: str
    ) -> tuple[OpenDialog, Choice]:
        dialog = look.dialog
        if dialog is None:
            raise _Refused(AnswerOutcome.NO_DIALOG, _describe_none(look))
        if expected and dialog.id != expected:
            why = f"dialog {expected} is not open any more; another one is ({dialog.id})"
            raise _Refused(AnswerOutcome.OTHER_DIALOG, why, dialog)
        if dialog.list is None:
            raise _Refused(AnswerOutcome.UNREADABLE, dialog.reason, dialog)
        choice = _find_choice(dialog, dialog.list, number, text)
        why = self.observer.find_refusal(look.screen) or ("" if look.front else "the agent is not in the foreground")
        if why:
            raise _Refused(AnswerOutcome.PERSON, why, dialog)
        return dialog, choice

    # Keys ---------------------------------------------------------------------------------------------------------

    def _same(self, signature: tuple[str, ...], began: float, without: int = 0) -> tuple[ScreenLook, ChoiceList]:
        """The screen now, if it still shows that dialog and nobody types."""
        screen = self.observer.look(self.observer.detector, without)
        if screen.list is None or screen.signature != signature:
            raise _Refused(AnswerOutcome.OTHER_DIALOG, "the dialog has changed or has closed meanwhile")
        if why := self.observer.find_refusal(screen, began):
            raise _Refused(AnswerOutcome.PERSON, why)
        if self.stopped():
            raise _Refused(AnswerOutcome.INTERRUPTED, "interrupted before a choice was taken")
        return screen, screen.list

    def _mark(self, choice: Choice, signature: tuple[str, ...], began: float) -> ScreenLook:
        """Move the mark to a choice, one key at a time, each once the last one is seen to have moved it."""
        deadline, pressed = time.monotonic() + PATIENCE, None
        while True:
            screen, shown = self._same(signature, began)
            now = shown.marked.number
            if now == choice.number:
                return screen
            # Once the last key has moved it, or while none was pressed yet:
            if now != pressed and self.hand.press((shown.move[choice.number > now],), self.observer.guard(screen)):
                pressed, self.moved, deadline = now, True, time.monotonic() + PATIENCE
            if time.monotonic() >= deadline:
                raise _Refused(AnswerOutcome.REFUSED, f"choice {choice.number} could not be marked")
            time.sleep(PAUSE)

    def _type(self, choice: Choice, text: str, screen: ScreenLook, began: float) -> tuple[ScreenLook, tuple[str, ...]]:
        """Type the text of a choice that takes one, and see it stand there."""
        signature = self.observer.look(self.observer.detector, choice.number).signature
        self.moved = True
        if not self.hand.paste(text, self.observer.guard(screen)):
            raise _Refused(AnswerOutcome.OTHER_DIALOG, "the dialog has changed or has closed meanwhile")
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            screen, shown = self._same(signature, began, choice.number)
            if _shows(shown, choice.number, text):
                return screen, signature
            time.sleep(PAUSE)
        raise _Refused(AnswerOutcome.REFUSED, "the text does not stand in the dialog; it may still come")

    def _take(
        self, choice: Choice, text: str | None, screen: ScreenLook, signature: tuple[str, ...], began: float
    ) -> None:
        """Press the key that takes the marked choice, once. What changed since the look is looked at again."""
        deadline = time.monotonic() + PATIENCE
        without = 0 if text is None else choice.number
        while True:
            assert screen.list is not None
            if screen.list.marked.number != choice.number or (text and not _shows(screen.list, choice.number, text)):
                raise _Refused(AnswerOutcome.OTHER_DIALOG, "the mark has moved meanwhile")
            if self.hand.press((screen.list.take,), self.observer.guard(screen)):
                return
            if time.monotonic() >= deadline:
                raise _Refused(AnswerOutcome.REFUSED, "the pane changes whenever the key is to be pressed; try again")
            time.sleep(PAUSE)
            screen, _ = self._same(signature, began, without)

    # After it -----------------------------------------------------------------------------------------------------

    def _confirm(self, dialog: OpenDialog, choice: Choice) -> AnswerResult:
        """Wait until two looks show that the dialog is gone: not on the screen, and no source still waits for it."""
        found = AnswerResult(AnswerOutcome.STILL_OPEN, "the dialog is still open", dialog, choice, pressed=True)
        deadline, times = time.monotonic() + GONE, 0
        while time.monotonic() < deadline:
            time.sleep(PAUSE)
            try:
                look = self.observer.observe()
            except GoneError as error:
                return found._replace(outcome=AnswerOutcome.ANSWERED, reason=f"the dialog is gone: {error}")
            except RefusedError as error:
                found = found._replace(outcome=AnswerOutcome.UNPROVEN, reason=str(error))
                continue
            there, turn = look.dialog, look.verdict.turn
            same = there is not None and there.id == dialog.id
            gone = not same and (there is not None or turn != "waiting")
            times = times + 1 if gone else 0
            if times > 1:
                state = look.verdict.state
                reason = f"the dialog is gone; it is {state} now ({look.verdict.reason})"
                return found._replace(outcome=AnswerOutcome.ANSWERED, reason=reason, state=state)
            if not same:
                why = "the dialog is gone from the screen, and other sources still tell of it"
                found = found._replace(outcome=AnswerOutcome.UNPROVEN, reason=why, state=look.verdict.state)
            else:
                found = found._replace(
                    outcome=AnswerOutcome.STILL_OPEN, reason="the dialog is still open", state=look.verdict.state
                )
        return found


def _describe_none(look: DialogLook) -> str:
    return f"no dialog is open there: {look.verdict.reason}"


def _shows(shown: ChoiceList, number: int, text: str) -> bool:
    choice = shown.find(number)
    return choice is not None and choice.marked and "".join(choice.text.raw.split()) == "".join(text.split())


def _find_choice(dialog: OpenDialog, shown: ChoiceList, number: int | None, text: str | None) -> Choice:
    """The choice that is meant, if it can be taken in this way."""
    if number is None:
        choice = next((each for each in shown.choices if each.takes_words), None)
        if choice is None:
            raise _Refused(AnswerOutcome.UNREADABLE, "none of its choices takes a text; name one by its number", dialog)
    elif (choice := shown.find(number)) is None:
        numbers = ", ".join(str(each.number) for each in shown.choices)
        raise UsageError(f"the dialog has no choice {number}; it has {numbers}")
    if text is None and choice.takes_words:
        how = "give them with --text 'T'" if choice.typed else "which nobody has told how to type here"
        raise _Refused(AnswerOutcome.UNREADABLE, f"choice {choice.number} asks for words of yours, {how}", dialog)
    if text is not None and not choice.typed:
        known = "nothing tells how this agent takes a text there" if choice.takes_words else "it takes no text"
        raise _Refused(AnswerOutcome.UNREADABLE, f"choice {choice.number}: {known}", dialog)
    return choice
