"""`tenuto check`: what is in files of stored answers."""

from __future__ import annotations

from functools import partial

from tenuto.cli.checked import Wanted, run_check
from tenuto.command_kit.printing import FileName, JsonFlag, Switch, print_json, print_words

EXAMPLES = (
    "tenuto check results/",
    "tenuto check results.jsonl --requests requests.jsonl",
    "tenuto check answers.jsonl --limit 512 --fail-over 1%",
    "tenuto check results/ --out report/",
    "tenuto check mine.jsonl --answer /text --stop /why --limit /max_tokens",
)


def check(
    *paths: FileName,
    requests: str | None = None,
    limit: str | None = None,
    kind: str | None = None,
    answer: str | None = None,
    stop: str | None = None,
    tokens: str | None = None,
    out: str | None = None,
    show_text: Switch = False,
    fail_over: str | None = None,
    processes: int | None = None,
    json: JsonFlag = False,
) -> int:
    """Show how many stored answers are cut, empty or broken.

    It reads batch results, evaluation logs, traces, training data and more: lines of JSON (.jsonl),
    JSON documents and arrays (.json) and CSV, gzipped or not; with tenuto[check] also Parquet, what
    zstd compressed, logs of inspect_ai (.eval), and URLs of object stores such as s3://. It sends
    nothing, and writes nothing without --out. The exit code is 1 if --fail-over says so, and 2 if a
    file or a line cannot be read, or if more than 5 % of the rows are no answers of a known kind.

    Args:
        paths: files and folders, or their URLs.
        requests: a file with the requests of the rows, which are found by their ids. They tell the
            limits, the schemas and the tools.
        limit: the output limit in tokens of all answers, if neither rows nor requests hold it; with
            --answer also where each row has its own, as a JSON pointer.
        kind: the kind of all rows, if it is not found by itself.
        answer: where rows of your own have the answer, as a JSON pointer such as /result/text.
        stop: where they have the stop.
        tokens: where they have the number of the answer's tokens.
        out: a folder for report.html, report.json and rows.jsonl (the place and the verdict of each
            row, without its text).
        show_text: write the end of each row's text into the report, too.
        fail_over: the share of answers that may be cut or broken, such as 1%.
        processes: how many processes to use; by default one for each core.
        json: print the report as one JSON object.
    """
    wanted = Wanted(
        requests=requests,
        limit=limit,
        kind=kind,
        answer=answer,
        stop=stop,
        tokens=tokens,
        out=out,
        show_text=show_text,
        fail_over=fail_over,
        processes=processes,
    )
    as_json = partial(print_json, indent=None) if json else None
    return run_check(paths, wanted, print_words, as_json)
