"""Exceptions, one class for each code, with TensorFlow's names."""

from __future__ import annotations


class OpError(Exception):
    """An op, a graph or a model failed.

    Attributes:
      code: the number of the code, such as 3 for INVALID_ARGUMENT.
      message: what went wrong, and where.
    """

    code: int = 2

    def __init__(self, message: str, code: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        if code is not None:
            self.code = code


class CancelledError(OpError):
    """The run was cancelled."""

    code = 1


class UnknownError(OpError):
    """An error without a code of its own."""

    code = 2


class InvalidArgumentError(OpError):
    """An argument is wrong, whatever the state of the program."""

    code = 3


class DeadlineExceededError(OpError):
    """The run took longer than its timeout."""

    code = 4


class NotFoundError(OpError):
    """A file, an op, a kernel or a resource is missing."""

    code = 5


class AlreadyExistsError(OpError):
    """Something of the name is there already."""

    code = 6


class PermissionDeniedError(OpError):
    """The caller may not do it."""

    code = 7


class ResourceExhaustedError(OpError):
    """There is not enough memory, or another limit was reached."""

    code = 8


class FailedPreconditionError(OpError):
    """The state of the program does not allow it: a variable has no value."""

    code = 9


class AbortedError(OpError):
    """The operation was aborted."""

    code = 10


class OutOfRangeError(OpError):
    """Beyond the end: of a file, a queue, a list of outputs."""

    code = 11


class UnimplementedError(OpError):
    """It is not there."""

    code = 12


class InternalError(OpError):
    """A fault of Kernlink's own."""

    code = 13


class UnavailableError(OpError):
    """It may work later."""

    code = 14


class DataLossError(OpError):
    """A file is damaged."""

    code = 15


class UnauthenticatedError(OpError):
    """The caller is not known."""

    code = 16


class DTypeError(InvalidArgumentError, TypeError):
    """Tensors of different dtypes where one is needed: nothing casts them. TensorFlow raises a TypeError in graphs, and an
    InvalidArgumentError for what runs at once."""


_CLASSES: dict[int, type[OpError]] = {cls.code: cls for cls in OpError.__subclasses__()}


def from_code(code: int, message: str) -> OpError:
    """The exception for a code."""
    cls = _CLASSES.get(code)
    return cls(message) if cls is not None else OpError(message, code)
