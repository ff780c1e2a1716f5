"""Exceptions for the caller's mistakes, in one tree. Faults of the far side are values (`fault`).

TenutoError
├── AgentError         an Agent, or what it is made of, was given something that is not allowed
│                      (also a ValueError)
├── PolicyError        a policy value that is not allowed (also a ValueError)
├── RegistrationError  register() was given something that is not allowed (also a ValueError)
├── ToolError          what was given as a tool cannot be one (also a ValueError)
├── TurnError          a Turn was begun or driven in a way that cannot be (also a ValueError)
└── UnsupportedClient  there is no way to recover on what was given: an object that wrap() cannot
                       wrap, a library that http_client() does not know or that is not installed
                       (also a TypeError)
"""

from __future__ import annotations


class TenutoError(Exception):
    """Base of every exception that Tenuto raises on its own account.

    >>> issubclass(PolicyError, TenutoError)
    True
    """


class AgentError(TenutoError, ValueError):
    """An agent, or what it is made of, was given something that is not allowed; the message says
    what is.

    >>> issubclass(AgentError, ValueError)
    True
    """


class PolicyError(TenutoError, ValueError):
    """A policy value is not allowed; the message names the key, the value and what is allowed.

    >>> issubclass(PolicyError, ValueError)
    True
    """


class RegistrationError(TenutoError, ValueError):
    """`register()` was given something that is not allowed; the message says what is.

    >>> issubclass(RegistrationError, ValueError)
    True
    """


class ToolError(TenutoError, ValueError):
    """What was given as a tool cannot be one; the message names the tool and says what is wanted.

    >>> issubclass(ToolError, ValueError)
    True
    """


class TurnError(TenutoError, ValueError):
    """A `Turn` was begun with a request that is no turn, or given a reply that its command has not.

    >>> issubclass(TurnError, ValueError)
    True
    """


class UnsupportedClient(TenutoError, TypeError):
    """`wrap()` cannot wrap this object, or `http_client()` cannot use this library; the message
    says what can be used.

    >>> issubclass(UnsupportedClient, TypeError)
    True
    """
