import ctypes
import os
import subprocess

RESULTS, TOKEN, PID, VICTIM, DATA, LATE = (os.environ[name] for name in ("RESULTS", "TOKEN", "PID", "VICTIM", "DATA", "LATE"))


def tried(name, attempt):
    try:
        attempt()
        result = "done"
    except OSError as error:
        result = "failed: " + str(error)
    with open(RESULTS + "/results", "a") as results:
        results.write(name + ": " + result + "\n")


def read(path):
    with open(path, "rb") as file:
        file.read(1)


def write(path, mode="w"):
    with open(path, mode) as file:
        file.write("!")


def attach():
    libc = ctypes.CDLL(None, use_errno=True)
    PTRACE_SEIZE = 0x4206  # does not stop the process
    if libc.ptrace(PTRACE_SEIZE, int(PID), None, None) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


tried("own file", lambda: write("own"))
tried("own move", lambda: (os.mkdir("sub"), os.rename("own", "sub/own")))
tried("token", lambda: read(TOKEN))
tried("environment", lambda: read("/proc/" + PID + "/environ"))
tried("root", lambda: read("/proc/" + PID + "/root" + TOKEN))
tried("attach", attach)
tried("read a run", lambda: read(VICTIM + "/secret"))
tried("list a run", lambda: os.listdir(VICTIM))
tried("symbolic link", lambda: (os.symlink(VICTIM + "/secret", "link"), read("link")))
tried("hard link", lambda: (os.link(VICTIM + "/secret", "hard"), read("hard")))
tried("write a run", lambda: write(VICTIM + "/secret", "a"))
tried("create in a run", lambda: write(VICTIM + "/created"))
tried("move in", lambda: os.rename("sub/own", VICTIM + "/moved"))
tried("move out", lambda: os.rename(VICTIM + "/secret", "taken"))
tried("data", lambda: write(DATA))
tried("background", lambda: subprocess.Popen(["/bin/sh", "-c", LATE, "late", RESULTS, TOKEN], env={}, start_new_session=True,
                                             stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
