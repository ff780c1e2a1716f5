"""What a provider sends, made from plain arguments: by wire the events of a stream and the body.

It stands beside the simulator and imports neither that nor any of Tenuto's wires. Begin with
`framing`: what a call is, and events as bytes. In each wire's module `events` makes a stream and
`body` a body, as values; what else stands there are their pieces, for tests that say something odd.
`by_wire` names the two of each wire.
"""
