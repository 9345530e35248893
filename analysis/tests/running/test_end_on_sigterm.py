"""SIGTERM ends a workflow even where the main thread holds the lock of the scheduler."""

import os
import signal
import threading

import pytest

from spikemark.running.sweeps import end_on_sigterm

#: Seconds within which a thread that nothing holds up has ended.
SOON_S = 30


class Scheduler:
    """One that needs its lock for ending, as that of Snakemake does."""

    def __init__(self):
        self.lock = threading.Lock()
        self.ended = threading.Event()

    def end(self, *_) -> None:
        if not self.lock.acquire(timeout=1):
            raise TimeoutError("the lock is held by the thread that was interrupted")
        self.lock.release()
        self.ended.set()


@pytest.fixture
def scheduler():
    before = signal.getsignal(signal.SIGTERM)
    yield Scheduler()
    signal.signal(signal.SIGTERM, before)


def test_sigterm_waits_for_a_lock_that_the_main_thread_holds(scheduler):
    end_on_sigterm(scheduler.end)
    with scheduler.lock:
        os.kill(os.getpid(), signal.SIGTERM)
        assert not scheduler.ended.is_set()
    assert scheduler.ended.wait(SOON_S)


def test_a_handler_that_asks_for_the_lock_itself_would_wait_for_ever(scheduler):
    """What Snakemake does: the test before this one can fail."""
    signal.signal(signal.SIGTERM, scheduler.end)
    with scheduler.lock, pytest.raises(TimeoutError):
        os.kill(os.getpid(), signal.SIGTERM)
    assert not scheduler.ended.is_set()
