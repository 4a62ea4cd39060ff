# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""What a hostile local user may try, on emulated machines: doc/security.md says why each fails.

EVE attacks ALICE, or root through poweraware-restore.  Each test first makes sure, or shows by a
control experiment, that what is attacked would work without the attack.
"""

from __future__ import annotations

import os
import shutil
import socket
import sys
import zlib
from pathlib import Path

import pytest

from opal.tests.test_machines import BUILD, MAX, MSR, Machine, machine, values  # noqa: F401  (fixture)

ALICE, EVE = 65533, 65534
SHM = "mount -t tmpfs -o mode=1777 none /dev/shm"  # nobody else's journals
FOUND, LOW = "2400000", "1200000"  # of machine setspeed, where everybody may write scaling_max_freq
CEILING = "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_max_freq"


def become(uid: int) -> str:
    return f"setpriv --reuid {uid} --regid {uid} --clear-groups "


def run_dir(uid: int) -> str:
    return f"/dev/shm/poweraware.{uid}"


def make_run_dir(uid: int) -> str:
    return become(uid) + f"mkdir -m 700 {run_dir(uid)}"


def journal(uid: int, *entries: str, job: str = "7", root: str = "/") -> bytes:
    """A journal without a flaw; entries as "original ceiling cpufreq 3 3000000"."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    head = f"poweraware-journal 1 host={socket.gethostname()} boot={boot} uid={uid} pid=1 start=1 job={job} root={root}"
    text = b""
    for line in (head, *entries):
        text += line.encode() + b" "
        crc = zlib.crc32(text)
        text += b"%08x\n" % crc
    return text


def lowered(cpu: int) -> tuple[str, str]:
    return f"original ceiling cpufreq {cpu} {FOUND}", f"ours ceiling cpufreq {cpu} {LOW}"


def plant(machine: Machine, uid: int, name: str, content: bytes) -> str:
    """The command that puts a file of that content and owner into uid's run-time directory."""
    source = machine.folder / f"plant-{uid}-{name}"
    source.write_bytes(content)
    return f"install -o {uid} -g {uid} -m 600 {source} {run_dir(uid)}/{name}"


def restore(machine: Machine, *options: str) -> str:
    return f"{machine.helpers}/poweraware-restore --all {' '.join(options)}; echo status: $?"


def run(machine: Machine, name: str, *lines: str) -> tuple[list[str], str]:
    """Runs the lines as root of that machine; lines of output, and all of it with what was on standard error."""
    done = machine.run(name, "\n".join(["exec 2>&1", SHM, *lines]))
    return done.stdout.splitlines(), done.stdout + done.stderr


# ---- journals ----

def test_a_forged_journal_gives_no_right(machine: Machine) -> None:
    """On a machine where only root may write; in root's own directory the same lines are obeyed."""
    lines = [f"original ceiling cpufreq 3 {LOW}", "ours ceiling cpufreq 3 3000000",
             "original clock_modulation msr 3 0x12", "ours clock_modulation msr 3 0x0"]
    said, text = run(machine, "skylake", make_run_dir(EVE), plant(machine, EVE, "journal-7-1-0", journal(EVE, *lines)),
                     restore(machine))
    assert values(said, "status") == ["1"] and machine.writes() == [], text
    assert "scaling_max_freq: no permission" in text and "/msr: no permission" in text
    said, text = run(machine, "skylake", make_run_dir(0), plant(machine, 0, "journal-7-1-0", journal(0, *lines)),
                     restore(machine))
    assert values(said, "status") == ["0"], text
    assert machine.writes() == [(3, MAX, LOW), (3, MSR, "0x12")], "the journal is no journal: nothing was proven"


@pytest.mark.parametrize("attack", [
    f"install -d -m 700 -o {EVE} {run_dir(0)}; mv {run_dir(EVE)}/journal-7-1-0 {run_dir(0)}",
    f"mv {run_dir(EVE)} {run_dir(0)}",
    f"ln -s poweraware.{EVE} {run_dir(0)}",
    f"ln -s {run_dir(EVE)}/journal-7-1-0 {run_dir(0)}",
], ids=["directory", "own-directory", "link", "link-to-journal"])
def test_nobody_writes_in_roots_name(machine: Machine, attack: str) -> None:
    forged = journal(0, "original ceiling cpufreq 3 " + LOW, f"ours ceiling cpufreq 3 {FOUND}")
    said, text = run(machine, "skylake", make_run_dir(EVE), plant(machine, EVE, "journal-7-1-0", forged),
                     become(EVE) + f"sh -c '{attack}'", restore(machine))
    assert values(said, "status") == ["1"] and machine.writes() == [], text


def test_a_journal_in_another_users_name_is_kept(machine: Machine) -> None:
    said, text = run(machine, "setspeed", make_run_dir(EVE),
                     plant(machine, EVE, "journal-7-1-0", journal(0, *lowered(3))), f"echo {LOW} > {CEILING % 3}",
                     restore(machine), f"ls {run_dir(EVE)}")
    assert values(said, "status") == ["1"] and "line 1: it is user 0's; kept" in text, text
    assert machine.moved() == [(3, MAX, LOW)] and said[-1] == "journal-7-1-0"


def test_garbage_does_not_stop_the_good_journal(machine: Machine) -> None:
    """A hundred of every kind, newer and older than the good one, among them three that block who opens them."""
    good = journal(EVE, *lowered(3))
    kinds = [b"", b"\0" * 100, good[:-5], good + b"more\n", good.replace(b" 3 ", b" 4 "), os.urandom(5000),
             b"poweraware-journal 2 " + good[21:], b"x" * 100_000]
    garbage = [plant(machine, EVE, f"journal-7-{i}-0", kinds[i % len(kinds)]) for i in range(93)]
    special = [f"mkfifo -m 600 {run_dir(EVE)}/journal-7-93-0", f"ln -s /dev/zero {run_dir(EVE)}/journal-7-94-0",
               f"mkdir {run_dir(EVE)}/journal-7-95-0", f"truncate -s 1T {run_dir(EVE)}/journal-7-96-0",
               f"ln {run_dir(EVE)}/journal-7-1-0 {run_dir(EVE)}/journal-7-97-0",
               f"ln -s journal-7-1-0 {run_dir(EVE)}/journal-7-98-0",
               f"install -o {ALICE} -m 600 /dev/null {run_dir(EVE)}/journal-7-99-0"]
    script = [make_run_dir(EVE), *garbage[:50], plant(machine, EVE, "journal-7-1234-0", good), *garbage[50:], *special,
              f"chown -h {EVE} {run_dir(EVE)}/*-9[3-8]-0", f"echo {LOW} > {CEILING % 3}"]
    said, text = run(machine, "setspeed", *script, restore(machine), f"ls {run_dir(EVE)}")
    assert machine.moved() == [] and "restored CPU 3 ceiling" in text, text
    assert values(said, "status") == ["1"]
    left = said[said.index("status: 1") + 1:]
    empty = len([i for i in range(93) if i % len(kinds) == 0])
    torn = len([i for i in range(93) if i % len(kinds) == 2])
    assert "journal-7-1234-0" not in left and len(left) == 100 - empty - torn, "kept: what cannot be read"


def test_nothing_of_a_journal_reaches_a_terminal(machine: Machine) -> None:
    """Names and roots with escape sequences; a program below the root makes the root part of a reason."""
    root = machine.folder / "\x1b]0;eve\x07\n"
    (root / "usr/sbin").mkdir(parents=True)
    (root / "dev/cpu/3").mkdir(parents=True)
    (root / "dev/cpu/3/msr").write_text("")
    daemon = root / "usr/sbin/likwid-accessD"
    daemon.write_text("#!/bin/sh\n")
    daemon.chmod(0o755)
    escaped = str(root).replace("\x1b", "%1B").replace("\x07", "%07").replace("\n", "%0A")
    forged = journal(EVE, "original clock_modulation likwid-accessD 3 0x0", job="%1B[2J", root=escaped)
    said, text = run(machine, "setspeed", make_run_dir(EVE), plant(machine, EVE, "journal-7", forged),
                     become(EVE) + f"touch $'{run_dir(EVE)}/journal-\\e[31m'", restore(machine))
    assert "likwid-accessD: no rights" in text, "the root is in no reason: nothing was proven: " + text
    assert [line for line in said if not line.isprintable()] == []


def test_a_live_job_is_left_alone(machine: Machine) -> None:
    """Whoever looks, and however often, while a job holds its levers."""
    walk = become(ALICE) + f"{machine.helpers}/walk_levers 1-2 {machine.helpers} {run_dir(ALICE)} pause"
    said, text = run(machine, "msr_safe", f"coproc walk {{ {walk}; }}; out=${{walk[0]}} in=${{walk[1]}}",
                     'while read -r line <&$out; do echo "$line"; [[ $line == "now: held" ]] && break; done',
                     restore(machine, "--verbose"), become(EVE) + f"ls {run_dir(ALICE)}",
                     "echo go >&$in; echo go >&$in; cat <&$out; wait")
    assert values(said, "tstate") == ["msr_safe"] and values(said, "status") == ["0"], text
    assert "in use; left alone" in text and "restored" not in text
    assert "ls: cannot open directory" in text
    assert [values(said, counter) for counter in ("errors", "yielded", "withdrawn")] == [["0"]] * 3, text
    at_held = [write for write in machine.writes() if write[1] == MSR][:4]
    assert at_held == [(1, MSR, "0x0"), (2, MSR, "0x0"), (1, MSR, "0x12"), (2, MSR, "0x12")]
    assert machine.moved() == []


# ---- poweraware-restore as root ----

LOCK_ALL = """
import fcntl, os, sys, time
files = [open(sys.argv[1] + "/" + name, "r+") for name in os.listdir(sys.argv[1])]
for file in files:
    fcntl.lockf(file, fcntl.LOCK_EX, 1, 0)
print("locked", flush=True)
time.sleep(300)
"""


def test_one_user_does_not_hold_the_others_up(machine: Machine) -> None:
    """A guardian's lock is waited for, two seconds each: forty of them would be longer than root has."""
    (machine.folder / "lock_all.py").write_text(LOCK_ALL)
    eves = [plant(machine, EVE, f"journal-7-{i}-0", b"") for i in range(40)]
    alices = plant(machine, ALICE, "journal-8-1-0", journal(ALICE, *lowered(3)))
    said, text = run(machine, "setspeed", make_run_dir(ALICE), alices, make_run_dir(EVE), *eves,
                     f"echo {LOW} > {CEILING % 3}",
                     f"coproc {become(EVE)} {sys.executable} {machine.folder}/lock_all.py {run_dir(EVE)}",
                     "read -r line <&${COPROC[0]}",
                     f"{machine.helpers}/poweraware-restore --all & all=$!",
                     f"for i in {{1..600}}; do [ $(cat {CEILING % 3}) = {FOUND} ] && break; sleep 0.05; done",
                     f"echo ceiling: $(cat {CEILING % 3}); kill -0 $all && echo restore: waits for eve",
                     f"child=$(pgrep -P $all -u {EVE}); {become(EVE)} cat /proc/${{child:-none}}/environ",
                     "kill $COPROC_PID; wait $all; echo status: $?")
    assert values(said, "ceiling") == [FOUND], text
    assert values(said, "restore") == ["waits for eve"], "eve held nobody up: nothing was proven: " + text
    assert "/environ: Permission denied" in text, "the process that has become eve can be looked into: " + text


def test_roots_environment_stays_roots(machine: Machine) -> None:
    """A journal can have a program started, into which its author can look."""
    spy = machine.folder / "spy"
    spy.mkdir()
    (spy / "poweraware-likwid").write_text(f"#!/bin/sh\ntr '\\0' '\\n' </proc/$$/environ >{machine.folder}/leak\n")
    (spy / "poweraware-likwid").chmod(0o755)
    forged = journal(EVE, f"original ceiling likwid 3 {FOUND}")
    # without rights of its own likwid-setFreq is not worth starting a program for
    daemon, powerful = "/usr/sbin/likwid-setFreq", machine.folder / "setFreq"
    grant = f"[ ! -e {daemon} ] || {{ install -m 4755 {daemon} {powerful} && mount --bind {powerful} {daemon}; }}"
    said, text = run(machine, "setspeed", grant, make_run_dir(EVE), plant(machine, EVE, "journal-7-1-0", forged),
                     "export SECRET=of-root", restore(machine, "--helper-dir", str(spy)))
    assert values(said, "status") == ["1"], text
    leak = (machine.folder / "leak").read_text()
    assert "PATH=" in leak and "of-root" not in leak, leak


# ---- squatting ----

SQUATS = {
    "directory": become(EVE) + f"mkdir -m 777 {run_dir(ALICE)}",
    "private-directory": become(EVE) + f"mkdir -m 700 {run_dir(ALICE)}",
    "link": become(EVE) + f"sh -c 'mkdir -m 777 /dev/shm/eve; ln -s eve {run_dir(ALICE)}'",
    "link-to-a-directory-of-hers": (
        f"{become(ALICE)} mkdir -m 700 /dev/shm/hers; {become(EVE)} ln -s hers {run_dir(ALICE)}"),
    "file": become(EVE) + f"touch {run_dir(ALICE)}",
    "fifo": become(EVE) + f"mkfifo -m 666 {run_dir(ALICE)}",
    "open-to-all": f"{become(ALICE)} mkdir {run_dir(ALICE)}; {become(ALICE)} chmod 777 {run_dir(ALICE)}",
    "registry-is-a-link": (f"{make_run_dir(ALICE)}; {become(ALICE)} install -m 600 /dev/null /dev/shm/hers; "
                           f"ln -s ../hers {run_dir(ALICE)}/cpus"),
    "registry-is-a-fifo": f"{make_run_dir(ALICE)}; {become(ALICE)} mkfifo -m 600 {run_dir(ALICE)}/cpus",
    "registry-is-eves": f"{make_run_dir(ALICE)}; install -o {EVE} -m 600 /dev/null {run_dir(ALICE)}/cpus",
}


@pytest.mark.parametrize("squat", SQUATS.values(), ids=SQUATS.keys())
def test_squatting_costs_levers_only(machine: Machine, squat: str) -> None:
    """Levers stay off with a line that names what is wrong, nothing is written, the job runs on."""
    walk = become(ALICE) + f"{machine.helpers}/walk_levers 1 {machine.helpers} {run_dir(ALICE)}; echo walk: $?"
    look = f"find -L /dev/shm -printf '%p %U %m %s\\n' | sort > {machine.folder}/"
    said, text = run(machine, "msr_safe", squat, look + "before", walk, look + "after",
                     f"cmp {machine.folder}/before {machine.folder}/after && echo same: yes")
    assert values(said, "walk") == ["0"] and values(said, "tstate") == ["none"], text
    assert any(run_dir(ALICE) in line for line in values(said, "log")), text
    assert values(said, "same") == ["yes"] and machine.writes() == [], text


def test_without_a_squat_there_are_levers(machine: Machine) -> None:
    """What the tests above would see if nothing had stopped them; and root passes the squat over."""
    walk = become(ALICE) + f"{machine.helpers}/walk_levers 1 {machine.helpers} {run_dir(ALICE)}"
    said, text = run(machine, "msr_safe", walk, become(EVE) + f"mkdir -m 700 {run_dir(ALICE - 1)}", restore(machine))
    assert values(said, "tstate") == ["msr_safe"] and machine.writes() != [], text
    assert values(said, "status") == ["1"] and f"poweraware.{ALICE - 1} belongs to user {EVE}: remove it" in text


# ---- what earlier jobs have learnt ----

KNOWN = ('{"format_version":1,"machines":[{"cpu":{"vendor":"","name":"","family":0,"model":0},"cpus":0,"mpi":"test","entries":['
         '{"operation":"bcast","transport":"ob1","nodes":1,"ranks_per_node":4,"size_class":3,"algorithm":"box","depth":"levers",'
         '"pairs":5,"trials":6,"slowdown":0.0,"gain":0.5,"calls":7,"day":8}]}]}')


@pytest.mark.parametrize("attack, loads, saves", [
    (f"chown {ALICE} knows", "1 ", ""),
    (f"chown {EVE} knows; chmod 644 knows", "0 /mnt/knows: belongs to another user", "no permission"),
    (f"chown {ALICE} knows; chmod 666 knows", "0 /mnt/knows: others may write to it", "no permission"),
    (f"mv knows alices; chown {ALICE} alices; ln -s alices knows", "0 /mnt/knows: a symbolic link", "no permission"),
    (f"chown {ALICE} knows; ln -s victim knows.lock", "1 ", "/mnt/knows.lock: Too many levels of symbolic links"),
], ids=["none", "owner", "mode", "link", "lock"])
def test_planted_knowledge(machine: Machine, attack: str, loads: str, saves: str) -> None:
    """ALICE keeps it in a folder where everybody may make files.  She loads, and saves it; without an attack that works."""
    (machine.folder / "known").write_text(KNOWN, encoding="ascii")
    drive = become(ALICE) + f"env PWR_HELPERS={machine.helpers} {machine.helpers}/drive knowledge /mnt/knows"
    said, text = run(machine, "no_rapl", "mount -t tmpfs -o mode=1777 none /mnt; cd /mnt",
                     f"cp {BUILD}/opal/tests/drive {machine.helpers}; install -m 600 {machine.folder}/known knows; {attack}",
                     drive, "ls", "echo done: yes")
    known = values(said, "knowledge")
    assert known[0].startswith(loads) and all(saves in line for line in known[1:]) and len(known) == 1 + bool(saves), text
    assert "victim" not in said and values(said, "done") == ["yes"], text


# ---- programs that are not who they seem to be ----

LISTEN = """
import os, socket, sys
while True:
    with open(sys.argv[1]) as asked:
        number = asked.readline()
    if not number:  # killed before it could say it
        continue
    name = "/tmp/likwid-%d" % int(number)
    trap = socket.socket(socket.AF_UNIX)
    trap.bind(name)
    os.chmod(name, 0o777)
    trap.listen()
    heard = trap.accept()[0].recv(32)
    print("eve heard: %d bytes" % len(heard), flush=True)
    os.unlink(name)
"""


def test_a_planted_daemon_socket(machine: Machine) -> None:
    """The daemon's socket has a name that can be guessed: here Eve always wins."""
    shutil.copy(BUILD / "opal" / "poweraware-start", machine.helpers)
    (machine.folder / "listen.py").write_text(LISTEN)
    sbin = machine.folder / "sbin"
    sbin.mkdir()
    (sbin / "likwid-accessD").write_text(f"#!/bin/sh\necho $$ >{machine.folder}/ask-eve\nexec sleep 20\n")
    (sbin / "likwid-accessD").chmod(0o4755)  # what the client looks at before it starts it
    walk = become(ALICE) + f"env PATH={sbin}:$PATH {machine.helpers}/walk_levers 1 {machine.helpers} {run_dir(ALICE)}"
    listen = become(EVE) + f"{sys.executable} {machine.folder}/listen.py {machine.folder}/ask-eve"
    said, text = run(machine, "daemon_only", f"mkfifo -m 666 {machine.folder}/ask-eve",
                     f"{listen} > {machine.folder}/heard & eve=$!",
                     walk, f"kill $eve; cat {machine.folder}/heard")
    assert values(said, "tstate") == ["none"] and f"its socket belongs to user {EVE}" in values(said, "why")[0], text
    assert set(values(said, "eve heard")) == {"0 bytes"}, text


def test_a_set_uid_program_has_no_levers(machine: Machine) -> None:
    """Its caller names folders and programs; nothing is made or started there with its owner's rights."""
    trap = machine.folder / "trap"
    (trap / "roots").mkdir(parents=True)
    (trap / "roots").chmod(0o700)
    for program in ("poweraware-guard", "poweraware-start", "poweraware-likwid", "likwid-accessD"):
        (trap / program).write_text(f"#!/bin/sh\nid -u >>{machine.folder}/trapped-$(id -u)\n")
        (trap / program).chmod(0o4755)
    walk = f"env PATH={trap}:$PATH /mnt/walk_levers 1 {trap} {trap}/roots/run"
    said, text = run(machine, "no_rapl", "mount -t tmpfs -o suid,mode=755 none /mnt",
                     f"cp {machine.helpers}/walk_levers /mnt; chmod 4755 /mnt/walk_levers",
                     become(EVE) + walk, f"ls {trap}/roots", f"ls {machine.folder} | grep trapped", "echo done: yes")
    assert values(said, "done") == ["yes"] and values(said, "pstate") == ["none"], text
    assert "set-uid" in values(said, "why")[0]
    assert said[-1] == "done: yes" and said[-2].startswith("why at the end:"), "something was made or started: " + text
    assert machine.writes() == []
    said, text = run(machine, "no_rapl", f"{machine.helpers}/walk_levers 1 {machine.helpers} {run_dir(0)}")
    assert values(said, "pstate") == ["cpufreq"], "root itself has no levers here: nothing was proven: " + text
