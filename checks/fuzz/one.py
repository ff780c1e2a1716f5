"""One target under the fuzzer, or a single input again.

python -m checks.fuzz.one sse corpus/ -max_total_time=20     what follows the name is libFuzzer's
python -m checks.fuzz.one sse --again .fuzz/found/sse-crash-…
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any


def main(arguments: list[str]) -> None:
    name, *rest = arguments
    if rest[:1] == ["--again"]:
        from checks.fuzz.targets import target

        target(name).check(Path(rest[1]).read_bytes())
        print(f"{name}: all that must hold holds for {rest[1]}")
        return
    import atheris  # type: ignore[import-untyped]  # only .fuzz has it

    fuzzer: Any = atheris
    # A module is instrumented when it is imported, so the fuzzer comes before the code.
    with fuzzer.instrument_imports(include=["tenuto"]):
        from checks.fuzz.targets import target

        check = target(name).check
    fuzzer.Setup([sys.argv[0], *rest], check)
    fuzzer.Fuzz()


if __name__ == "__main__":
    main(sys.argv[1:])
