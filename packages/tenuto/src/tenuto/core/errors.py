"""Exceptions for the caller's mistakes, in one tree. Faults of a provider are values (see `fault`).

TenutoError
├── AgentError         an argument of an Agent, or of one of its parts, is not allowed
│                      (also a ValueError)
├── PolicyError        a policy value is not allowed (also a ValueError)
├── RegistrationError  a provider or wire cannot be registered (also a ValueError)
├── ToolError          an object cannot be used as a tool (also a ValueError)
├── TurnError          the caller began or drove a Turn wrongly (also a ValueError)
└── UnsupportedClient  Tenuto cannot use a client or a library: wrap() cannot wrap the object, or
                       http_client() does not know the library or cannot find it
                       (also a TypeError)
"""

from __future__ import annotations


class TenutoError(Exception):
    """The base class of Tenuto's exceptions.

    >>> issubclass(PolicyError, TenutoError)
    True
    """


class AgentError(TenutoError, ValueError):
    """An argument of the agent, or of one of its parts, is not allowed; the message says what is.

    >>> issubclass(AgentError, ValueError)
    True
    """


class PolicyError(TenutoError, ValueError):
    """A setting of a policy is not allowed; the message names the key, the value and the allowed
    values.

    >>> issubclass(PolicyError, ValueError)
    True
    """


class RegistrationError(TenutoError, ValueError):
    """A provider or a wire can't be registered; the message says what is allowed.

    >>> issubclass(RegistrationError, ValueError)
    True
    """


class ToolError(TenutoError, ValueError):
    """An object can't be used as a tool; the message names it and says what is allowed.

    >>> issubclass(ToolError, ValueError)
    True
    """


class TurnError(TenutoError, ValueError):
    """A `Turn` can't begin with this request, or its last command doesn't allow this reply.

    >>> issubclass(TurnError, ValueError)
    True
    """


class UnsupportedClient(TenutoError, TypeError):
    """`wrap()` can't wrap this object, or `http_client()` can't use this library; the message says
    what you can use.

    >>> issubclass(UnsupportedClient, TypeError)
    True
    """
