"""What commands share, those of members too: errors and exit codes, printing, and arguments.

A member adds a command by an entry point of the group `tenuto.commands`, whose value is a function
in a module with `EXAMPLES`. All members have the same version, so what is here may change with each
version; it is not part of the public interface.
"""
