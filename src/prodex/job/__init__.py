"""Jobs: everything that is done each night, from one file, restartable and with a result to read."""

from prodex.job.result import JobResult
from prodex.job.run import run_job

__all__ = ["JobResult", "run_job"]
