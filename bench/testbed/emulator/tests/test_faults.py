# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Faults on demand, as processes on the machine meet them."""

from __future__ import annotations

import sys
import textwrap
from typing import List

from conftest import Emulate

PROLOGUE = """
import os, threading, time
cpu3 = "/sys/devices/system/cpu/cpu3/cpufreq/"
fault = os.environ["PWR_EMU_STATE"] + "/mnt/ctl/fault"

def rule(text):
    with open(fault, "w") as stream:
        stream.write(text)

def attempt(call, *words):
    try:
        return call(*words)
    except OSError as error:
        return os.strerror(error.errno)

def register(fd, number=0x19a):
    return int.from_bytes(os.pread(fd, 8, number), "little")
"""


def script(body: str) -> str:
    text = PROLOGUE + textwrap.dedent(body)
    return f"exec {sys.executable} - <<'PYTHON'\n{text}\nPYTHON\n"


def lines(emulate: Emulate, machine: str, body: str) -> List[str]:
    result = emulate(machine, script(body))
    assert result.returncode == 0, result.stderr
    return result.stdout.splitlines()


def test_registers(emulate: Emulate) -> None:
    """The third write fails and changes nothing, the fourth works again."""
    result = emulate("msr_safe", script("""
        msr, safe = (os.open("/dev/cpu/3/" + name, os.O_RDWR) for name in ("msr", "msr_safe"))
        rule("write msr:0x19a cpu=3 error=EIO after=2 count=1")
        for value in 0x12, 0x14, 0x16, 0x18:
            print(attempt(os.pwrite, safe, value.to_bytes(8, "little"), 0x19a), register(safe))
        print(open(fault).read().strip())
        rule("read msr_safe error=ENXIO")
        print(attempt(register, msr), attempt(register, safe))
        rule("clear")
        print(register(safe), repr(open(fault).read()))
        """))
    assert result.stdout.splitlines() == [
        "8 18", "8 20", "Input/output error 20", "8 24",
        "write msr:0x19a cpu=3 error=EIO after=2 count=1 hits=1",
        "24 No such device or address",
        "24 ''",
    ], result.stderr
    assert [w.value for w in result.writes()] == ["0x12", "0x14", "0x18"]  # not the failed one


def test_files(emulate: Emulate) -> None:
    assert lines(emulate, "skylake", """
        rule("write scaling_max_freq cpu=3 error=EACCES\\nread scaling_cur_freq error=ENODEV")
        rule("open scaling_governor cpu=3 error=ENOENT\\nread energy_uj cpu=1 error=EPERM")
        fd = os.open(cpu3 + "scaling_max_freq", os.O_RDWR)
        print(attempt(os.write, fd, b"1500000"), os.pread(fd, 64, 0))
        other = os.open("/sys/devices/system/cpu/cpu2/cpufreq/scaling_max_freq", os.O_RDWR)
        print(attempt(os.write, other, b"1500000"))
        print(attempt(open, cpu3 + "scaling_governor"))
        print(attempt(open(cpu3 + "scaling_cur_freq").read))
        for zone in 0, 1:
            print(attempt(open(f"/sys/class/powercap/intel-rapl:{zone}/energy_uj").read) ==
                  "Operation not permitted")
        """) == [
        "Permission denied b'3000000\\n'", "7", "No such file or directory", "No such device",
        "False", "True",
    ]


def test_open(emulate: Emulate) -> None:
    assert lines(emulate, "msr_safe", """
        rule("open msr_safe error=EBUSY count=1")
        print(attempt(os.open, "/dev/cpu/3/msr_safe", os.O_RDWR))
        print(attempt(os.open, "/dev/cpu/3/msr", os.O_RDWR) == "Device or resource busy")
        print(attempt(os.open, "/dev/cpu/3/msr_safe", os.O_RDWR) == "Device or resource busy")
        """) == ["Device or resource busy", "False", "False"]


def test_short(emulate: Emulate) -> None:
    """Half of what there is; the rest is there for who asks again."""
    assert lines(emulate, "skylake", """
        rule("read scaling_max_freq short count=1\\nread msr short")
        fd = os.open(cpu3 + "scaling_max_freq", os.O_RDONLY)
        print(os.pread(fd, 64, 0), os.pread(fd, 64, 4), os.pread(fd, 64, 0))
        print(len(os.pread(os.open("/dev/cpu/3/msr", os.O_RDONLY), 8, 0x19a)))
        """) == ["b'3000' b'000\\n' b'3000000\\n'", "4"]


def test_delay_holds_up_nobody_else(emulate: Emulate) -> None:
    """A write that takes long (and then fails), and one that still waits when others have come and gone
    and the machine ends."""
    result = emulate("skylake", script("""
        rule("write msr:0x19a cpu=3 delay_us=60000000\\n"
             "write scaling_max_freq cpu=3 delay_us=300000 error=EIO\\n"
             "write scaling_min_freq cpu=3 delay_us=300000")
        done = []
        def slow(path, bytes):
            fd = os.open(path, os.O_RDWR)
            begin = time.monotonic()
            outcome = attempt(os.pwrite, fd, bytes, 0x19a if "msr" in path else 0)
            done.append((outcome, time.monotonic() - begin >= 0.3))
        for name in "max", "min":
            thread = threading.Thread(target=slow, args=(cpu3 + f"scaling_{name}_freq", b"1200000"))
            thread.start()
            thread.join()
            print(*done.pop(), open(cpu3 + f"scaling_{name}_freq").read().strip())
        threading.Thread(target=slow, args=("/dev/cpu/3/msr", bytes(8)), daemon=True).start()
        while "hits=1" not in open(fault).readline():
            time.sleep(0.01)
        other = os.open("/dev/cpu/2/msr", os.O_RDWR)
        os.pwrite(other, bytes([0x18]) + bytes(7), 0x19a)
        print(register(other), register(os.open("/dev/cpu/3/msr", os.O_RDONLY)), done, flush=True)
        os.kill(int(open(os.environ["PWR_EMU_STATE"] + "/pid").read()), 15)
        """))
    assert result.stdout.splitlines() == [
        "Input/output error True 3000000", "7 True 1200000", "24 0 []",
    ], result.stderr


def test_bad_rules(emulate: Emulate) -> None:
    result = emulate("skylake", script("""
        print(attempt(rule, "write msr:0x19a error=ELSEWHERE"))
        print(attempt(rule, "read msr error=EIO\\nread"), repr(open(fault).read()))
        """))
    assert result.stdout.splitlines() == ["Invalid argument", "Invalid argument ''"], result.stderr
    log = (result.state / "log").read_text()
    assert "'write msr:0x19a error=ELSEWHERE' is no rule for a fault" in log
    assert "'read' is no rule" in log
