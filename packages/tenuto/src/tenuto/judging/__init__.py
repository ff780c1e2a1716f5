"""What is in a stored answer.

Read `judgement.py`, which judges one row, and `verdict.py`, what it says. Then follow a row:

- What it is: `opening.py` opens what is kept closed, and `kinds.py` has the table of the kinds of
  rows. What the table cannot say is in `messages.py`, `tools.py`, `logs.py` and `cassettes.py`.
  `own.py` has the kind that a user describes, and `titles.py` what people call each kind. `walk.py`
  finds answers where no kind fits.
- What it holds: `held.py`. `names.py` has the names of what stands beside an answer, which
  `beside.py` reads; `requests.py` reads what was asked, and `days.py` when.
- What the answer is: `answers.py` reads it by its wire, and `signs.py` says what its text shows,
  with `sentences.py` for the end of prose.
- The same in microseconds: `quick.py` with `shapes.py`, and `flat.py`.

`batch.py` judges columns of Arrow, and `checking.py` files:

- Their rows: `files.py`, with `tables.py`, `columns.py` and `cells.py` for tables, `archives.py`
  for logs of inspect_ai, and `stores.py`, which opens any file. `asked_rows.py` reads the requests
  of a batch.
- Their sums: `tally.py`, and `settled.py`, which counts in SQL, with `open_ends.py` for texts that
  break off. `lengths.py` has what larger limits would win, and `report.py` the report.
"""

from tenuto.judging.batch import judge_batch
from tenuto.judging.judgement import judge
from tenuto.judging.verdict import Verdict

__all__ = ["Verdict", "judge", "judge_batch"]
