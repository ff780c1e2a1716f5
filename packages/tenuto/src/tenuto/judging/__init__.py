"""What is in a stored answer.

Read `judgement.py`, which judges one row, and `verdict.py`, what it says. Then follow a row:

- What it is: `opening.py` opens what is kept closed, `kind.py` says what a kind of rows is, and
  `kinds.py` has the table of all. What the table cannot say is in `messages.py`, `tools.py`,
  `logs.py` and `cassettes.py`. `own.py` has the kind that a user describes, and `titles.py` what
  people call each kind. `walk.py` finds answers where no kind fits.
- What it holds: `held.py`. `names.py` has the names of what stands beside an answer, which
  `beside.py` reads; `requests.py` reads what was asked, and `days.py` when.
- What the answer is: `answers.py` reads it by its wire, and `signs.py` says what its text shows,
  with `sentences.py` for the end of prose and `brackets.py` for what is open in code.
- The same in microseconds: `quick.py` with `shapes.py`, and `flat.py`.

`batch.py` judges columns of Arrow, and `checking.py` files, with `sharing.py` for processes:

- Their rows: `files.py`, with `documents.py` for JSON over several lines, `tables.py`, `columns.py`
  and `cells.py` for tables, `archives.py` for logs of inspect_ai, `stores.py`, which opens any
  file, `encodings.py`, which makes UTF-8 of it, and `forms.py`, which says what cannot be read.
  `asked_rows.py` reads the requests of a batch, and `repeats.py` finds rows that repeat the answers
  of others.
- Their sums: `adding.py`, `tally.py` with `endings.py`, which learns from a file how its texts
  would be cut, and `settled.py`, which counts in SQL, with `open_ends.py` for texts that break off.
  `lengths.py` has what larger limits would win, and `report.py` the report.
"""

from tenuto.judging.batch import judge_batch
from tenuto.judging.judgement import judge
from tenuto.judging.verdict import Verdict

__all__ = ["Verdict", "judge", "judge_batch"]
