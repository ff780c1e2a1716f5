"""What tests share, none of it a test.

Begin with `pairing`: which part of a matrix `make test` runs. Then by what a test needs: `asking` (a
simulator is asked through an official SDK, bare or wrapped), `events` (what a provider sends, from
plain arguments), `replay` (a provider that says what a test wrote down), `far_sides` (one that sends
any bytes), `pacing` (streams that are read in lockstep).
`facing` and `every_wire` hold a row for each SDK and each wire.
"""
