"""A clock for programs that a test starts: a preloaded library sets the wall clock aside from the machine's."""

import os
import pathlib
import subprocess

SHIM = r"""
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static long shift(void) { const char* s = getenv("INTERLOCK_TEST_SHIFT"); return s ? atol(s) : 0; }
int clock_gettime(clockid_t id, struct timespec* to) {
    const int code = (int)syscall(SYS_clock_gettime, id, to);
    if (code == 0 && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) to->tv_sec += shift();
    return code;
}
int gettimeofday(struct timeval* to, void* zone) {
    struct timespec now;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    to->tv_sec = now.tv_sec;
    to->tv_usec = now.tv_nsec / 1000;
    return 0;
}
time_t time(time_t* to) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (to) *to = now.tv_sec;
    return now.tv_sec;
}
"""


def build_shim(folder):
    source = pathlib.Path(folder, "shift.c")
    source.write_text(SHIM)
    library = pathlib.Path(folder, "shift.so")
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", str(library), str(source)], check=True)
    return str(library)


class Clock:
    """Sets the clock of programs that are started from here on."""

    def __init__(self, folder):
        self.library = build_shim(folder)

    def set(self, seconds):
        """So many seconds beside the machine's; negative: in the past."""
        if seconds == 0:
            os.environ.pop("LD_PRELOAD", None)
        else:
            os.environ["LD_PRELOAD"] = self.library
        os.environ["INTERLOCK_TEST_SHIFT"] = str(seconds)
