"""What is in a stored answer. Read `judgement.py`, then `kinds.py`, which has the table of the
kinds of rows. `walk.py` finds answers where no kind fits, `answers.py` reads one by its wire,
`signs.py` says what its text shows, and `batch.py` judges columns of Arrow."""

from tenuto.judging.batch import judge_batch
from tenuto.judging.judgement import judge
from tenuto.judging.verdict import Verdict

__all__ = ["Verdict", "judge", "judge_batch"]
