"""The room of errors: what a user can cause, with the exit code each one ends the command with."""

from __future__ import annotations


def one_line(message: str) -> str:
    """A message without the line ends, or the codes that a terminal obeys, which a name in a file may hold."""
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in message)


class BoughError(ValueError):
    """Something a user can mend; the message says what, where and how, on one line."""

    exit_code = 2

    def __init__(self, message: str) -> None:
        super().__init__(one_line(message))


class FieldError(BoughError):
    """A field of a record that holds a value it cannot; `path` names it from the record's root."""

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(f"{path}: {problem}")
        self.path = path
        self.problem = problem

    def under(self, parent: str) -> FieldError:
        """The same error, seen from the record that holds this one as its field `parent`."""
        return FieldError(f"{parent}.{self.path}" if self.path else parent, self.problem)


class ArtefactError(BoughError):
    """A file that is corrupt, or that is refused because reading it would not be safe."""

    exit_code = 3


class ResourceError(BoughError):
    """The machine ran out of something: memory, disk, a device."""

    exit_code = 4


class MissingError(BoughError):
    """A library that is asked for and not installed; the message says what to install."""
