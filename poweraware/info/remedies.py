# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""What grants what is missing, in one table, and what each part is worth.

Sources: udev(7) (%S and %p: sysfs and the device's path below it); Linux, Documentation/admin-guide/pm/cpufreq.rst and
admin-guide/sysctl/kernel.rst (perf_event_paranoid); msr-safe's README (groups; writing the list replaces all of it);
capabilities(7); Lipp et al., "PLATYPUS", 2021 (CVE-2020-8694)."""
from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple

Remedy = Dict[str, Any]

_NO_PERMISSION = "no permission"  # refusals, as the power library words them
_NOT_SUPPORTED = "not supported by this machine"
_SHARED = "shared with another process"


def _remedy(text: str, *commands: str, caution: Optional[str] = None) -> Remedy:
    """One sentence; commands to be typed by root, verbatim."""
    return {"text": text, "commands": list(commands), "caution": caution}


_GROUP = "groupadd --system --force poweraware && usermod --append --groups poweraware USER"
_RELOAD = "udevadm control --reload && udevadm trigger --action=change --subsystem-match="


def _for_group(name: str, device: str, rights: str, *files: str) -> str:
    """A rule that gives a group rights to files of a device."""
    actions = (("/bin/chgrp poweraware", files), (f"/bin/chmod {rights}", files))
    run = ", ".join(f'RUN+="{" ".join([action, *(f"%S%p/{file}" for file in of)])}"' for action, of in actions)
    return f"echo '{device}, {run}' >/etc/udev/rules.d/70-poweraware-{name}.rules"


def _allow(write: str = "", read: Tuple[str, ...] = ()) -> str:
    """Writing replaces the whole list of msr-safe, so the old one is written again. Of two lines for one register the first
    stays: what must be written goes in front, what must only be read behind."""
    first = f"echo '{write}'; " if write else ""
    last = "".join(f"; echo '0x{register} 0x0000000000000000'" for register in read)
    return (f"({first}cat /dev/cpu/msr_allowlist{last}) | awk '!seen[tolower($1)]++' >/run/msr_allowlist.new && "
            "cat /run/msr_allowlist.new >/dev/cpu/msr_allowlist")  # fmt: skip


_ALLOW_CAUTION = ("also add the line to the list that is loaded at boot (often /etc/msr-safe/default_allowlist); "
                  "old versions of msr-safe call the file msr_whitelist")  # fmt: skip
_ENERGY_CAUTION = ("fine-grained energy readings let a local attacker infer secrets of other processes "
                   "(PLATYPUS, CVE-2020-8694): grant them to a group, on nodes that users do not share")  # fmt: skip

# fmt: off
_CPUFREQ_GROUP = _remedy(
    "let a group write the limits of each CPU; the rule keeps it over reboots and hotplug", _GROUP,
    _for_group("cpufreq", 'SUBSYSTEM=="cpu", ACTION=="add|online|change", TEST=="cpufreq"', "g+w",
               "cpufreq/scaling_max_freq", "cpufreq/scaling_min_freq"),
    _RELOAD + "cpu",
    caution="who may write them can slow down every CPU of the node; where the cpufreq driver is a module that loads late, "
    "repeat the last command after it")
_SETSPEED_GROUP = _remedy(
    "let a group write the speed of each CPU; the rule keeps it over reboots and hotplug", _GROUP,
    _for_group("setspeed", 'SUBSYSTEM=="cpu", ACTION=="add|online|change", TEST=="cpufreq/scaling_setspeed"', "g+w",
               "cpufreq/scaling_setspeed"),
    _RELOAD + "cpu")
_CPUFREQ_DRIVER = _remedy(
    'load a cpufreq driver; if none takes this CPU, look in the firmware for P-states or "OS control", and in a virtual '
    "machine ask for a real node",
    "modprobe acpi-cpufreq || modprobe amd-pstate")
_WHOLE_DOMAIN = _remedy(
    "give each process all CPUs that share one frequency (N of them)", "mpirun --map-by slot:PE=N --bind-to core ...")
_MSR_SAFE_LOAD = _remedy(
    "install and load msr-safe, which opens single registers to users (https://github.com/LLNL/msr-safe)", "modprobe msr-safe")
_MSR_SAFE_GROUP = _remedy(
    "let the user into the group that msr-safe's devices belong to", "ls -l /dev/cpu/0/msr_safe # which group",
    "usermod --append --groups msr-user USER", caution="it takes effect at the user's next login")
_ALLOW_MODULATION = _remedy(
    "allow the five bits of the duty cycle in msr-safe's list", _allow("0x0000019A 0x000000000000001F"), caution=_ALLOW_CAUTION)
_ALLOW_PERF_CTL = _remedy(
    "allow the ratio in PERF_CTL in msr-safe's list, and reading the CPU's range",
    _allow("0x00000199 0x000000000000FF00", ("000000CE", "000001AD", "00000770")), caution=_ALLOW_CAUTION)
_ALLOW_HWP = _remedy(
    "allow minimum and maximum of HWP_REQUEST in msr-safe's list, and reading the CPU's range",
    _allow("0x00000774 0x000000000000FFFF", ("00000770", "00000771")), caution=_ALLOW_CAUTION)
_UNCORE_GROUP = _remedy(
    "let a group write the limits of each package's uncore; the file keeps it over reboots",
    _GROUP,
    "echo 'z /sys/devices/system/cpu/intel_uncore_frequency/*/m??_freq_khz 0664 root poweraware' "
    ">/etc/tmpfiles.d/poweraware-uncore.conf",
    "systemd-tmpfiles --create /etc/tmpfiles.d/poweraware-uncore.conf",
    caution="who may write them can slow down memory and caches for every process of the node")
_UNCORE_DRIVER = _remedy(
    "load the kernel's driver (Linux 5.6 and later, Intel's server processors)", "modprobe intel_uncore_frequency")
_WHOLE_PACKAGE = _remedy(
    "give the job all CPUs of a package, since they have one uncore frequency; here ask for all of them",
    "mpirun --map-by core --bind-to core ...", "poweraware-info --cpus ...")
_ALLOW_UNCORE = _remedy(
    "allow both ratios of MSR_UNCORE_RATIO_LIMIT in msr-safe's list", _allow("0x00000620 0x0000000000007F7F"),
    caution=_ALLOW_CAUTION)
_NO_UNCORE = _remedy(
    "nothing grants it: this CPU has no MSR_UNCORE_RATIO_LIMIT (many virtual machines; processors on which only the "
    "kernel's driver reaches the uncore)")
_ALLOW_ENERGY = _remedy(
    "allow reading the energy counters in msr-safe's list (mask 0: no writing)",
    _allow(read=("00000606", "00000611", "00000619", "00000639", "0000064D")), caution=_ENERGY_CAUTION)
_MSR_LOAD = _remedy("load the kernel's driver; root alone may use it", "modprobe msr")
_MSR_IS_ROOTS = _remedy(
    "leave it closed: it gives all registers to whoever may write it (root with CAP_SYS_RAWIO); msr-safe gives single ones")
_NO_MODULATION = _remedy("nothing grants it: this CPU has no IA32_CLOCK_MODULATION (AMD, many virtual machines)")
_NOT_ON_AMD = _remedy(
    "nothing grants it: AMD's processors have none of Intel's registers for P-states, clock modulation and the uncore")
_LIKWID_DAEMON = _remedy(
    "install likwid and give its access daemon the right to registers (path as on Debian)", "modprobe msr",
    "chown root:root /usr/sbin/likwid-accessD && chmod 4755 /usr/sbin/likwid-accessD", "# or, without set-uid:",
    "setcap cap_sys_rawio,cap_dac_override+ep /usr/sbin/likwid-accessD",
    caution="every user of the node can then move what the daemon allows")
_LIKWID_REFUSES = _remedy(
    "nothing more from likwid: its daemon has a fixed list of registers for each processor; msr-safe's list can be changed")
_LIKWID_FREQUENCY = _remedy(
    "install likwid before poweraware is built, and make its frequency helper set-uid root (path as on Debian)",
    "chown root:root /usr/sbin/likwid-setFreq && chmod 4755 /usr/sbin/likwid-setFreq",
    caution="every user of the node can then set every CPU's frequency")
_POWERCAP_GROUP = _remedy(
    "let a group read the counters, which are root's since Linux 5.10", _GROUP,
    _for_group("powercap", 'SUBSYSTEM=="powercap", ACTION=="add|change", TEST=="energy_uj"', "g+r", "energy_uj"),
    _RELOAD + "powercap", caution=_ENERGY_CAUTION)
_POWERCAP_DRIVER = _remedy(
    "load the kernel's RAPL driver; virtual machines and CPUs without RAPL have none", "modprobe intel_rapl_msr")
_PERF_PARANOID = _remedy(
    "allow counting on whole packages to everybody, or to the sampler alone; never by capabilities of an MPI program, whose "
    "levers then stay off",
    "echo 'kernel.perf_event_paranoid = 0' >/etc/sysctl.d/70-poweraware.conf",
    "sysctl --system",
    "# or:",
    'setcap cap_perfmon+ep "$(command -v poweraware-sample)"',
    caution=_ENERGY_CAUTION)
_PERF_DRIVER = _remedy("load the kernel's RAPL events; virtual machines and CPUs without RAPL have none", "modprobe rapl")
# fmt: on

# Part ("": any), back end, refusal, what the reason mentions, remedy. A row applies when everything in it does; a back end
# "msr_safe" is also the end of a longer name ("hwp-msr_safe").
_ROWS: List[Tuple[str, str, str, str, Remedy]] = [
    ("pstate", "cpufreq-setspeed", _NO_PERMISSION, "", _SETSPEED_GROUP),
    ("pstate", "cpufreq", _NO_PERMISSION, "", _CPUFREQ_GROUP),
    ("pstate", "cpufreq", _NOT_SUPPORTED, "", _CPUFREQ_DRIVER),
    ("pstate", "likwid", _NOT_SUPPORTED, "", _LIKWID_FREQUENCY),
    ("pstate", "likwid", _NO_PERMISSION, "", _LIKWID_FREQUENCY),
    ("pstate", "cpufreq-setspeed", _SHARED, "", _WHOLE_DOMAIN),
    ("pstate", "cpufreq", _SHARED, "", _WHOLE_DOMAIN),
    ("pstate", "likwid", _SHARED, "", _WHOLE_DOMAIN),
    ("pstate", "hwp-msr_safe", _NO_PERMISSION, "MSR 0x", _ALLOW_HWP),
    ("pstate", "perf_ctl-msr_safe", _NO_PERMISSION, "MSR 0x", _ALLOW_PERF_CTL),
    ("tstate", "msr_safe", _NOT_SUPPORTED, "MSR 0x", _NO_MODULATION),
    ("tstate", "msr_safe", _NO_PERMISSION, "MSR 0x", _ALLOW_MODULATION),
    ("tstate", "msr", _NOT_SUPPORTED, "MSR 0x", _NO_MODULATION),
    ("uncore", "intel_uncore_frequency", _NO_PERMISSION, "", _UNCORE_GROUP),
    ("uncore", "intel_uncore_frequency", _NOT_SUPPORTED, "", _UNCORE_DRIVER),
    ("uncore", "intel_uncore_frequency", _SHARED, "", _WHOLE_PACKAGE),
    ("uncore", "msr_safe", _NOT_SUPPORTED, "MSR 0x", _NO_UNCORE),
    ("uncore", "msr_safe", _NO_PERMISSION, "MSR 0x", _ALLOW_UNCORE),
    ("uncore", "msr_safe", _SHARED, "", _WHOLE_PACKAGE),
    ("uncore", "msr", _NOT_SUPPORTED, "MSR 0x", _NO_UNCORE),
    ("uncore", "msr", _SHARED, "", _WHOLE_PACKAGE),
    ("uncore", "likwid-accessD", _SHARED, "", _WHOLE_PACKAGE),
    ("energy", "powercap", _NO_PERMISSION, "", _POWERCAP_GROUP),
    ("energy", "powercap", _NOT_SUPPORTED, "", _POWERCAP_DRIVER),
    ("energy", "msr_safe", _NO_PERMISSION, "RAPL registers", _ALLOW_ENERGY),
    ("energy", "likwid", _NOT_SUPPORTED, "", _LIKWID_DAEMON),
    ("energy", "likwid", _NO_PERMISSION, "", _LIKWID_DAEMON),
    ("energy", "perf_event", _NO_PERMISSION, "perf_event_paranoid", _PERF_PARANOID),
    ("energy", "perf_event", _NOT_SUPPORTED, "", _PERF_DRIVER),
    ("", "msr_safe", _NOT_SUPPORTED, "/dev/cpu/", _MSR_SAFE_LOAD),
    ("", "msr_safe", _NO_PERMISSION, "/dev/cpu/", _MSR_SAFE_GROUP),
    ("", "msr", _NOT_SUPPORTED, "/dev/cpu/", _MSR_LOAD),
    ("", "msr", _NO_PERMISSION, "", _MSR_IS_ROOTS),
    ("", "likwid-accessD", _NOT_SUPPORTED, "not installed", _LIKWID_DAEMON),
    ("", "likwid-accessD", _NOT_SUPPORTED, "/dev/cpu/", _MSR_LOAD),
    ("", "likwid-accessD", _NO_PERMISSION, "no rights", _LIKWID_DAEMON),
    ("", "likwid-accessD", _NO_PERMISSION, "MSR 0x", _LIKWID_REFUSES),
]


def find(vendor: str, part: str, backend: str, refusal: Optional[str], reason: str) -> List[Remedy]:
    """Those for a back end that was refused so, on a processor of this vendor ("": unknown)."""
    registers = any(_is_named(backend, name) for name in ("msr_safe", "msr", "likwid-accessD"))
    if refusal and vendor == "AuthenticAMD" and part != "energy" and registers:
        return [_NOT_ON_AMD]
    return [
        remedy
        for of, name, kind, mention, remedy in _ROWS
        if of in (part, "") and kind == refusal and _is_named(backend, name) and mention in reason
    ]


def _is_named(backend: str, name: str) -> bool:
    return backend == name or backend.endswith("-" + name)


_ICPP = ("Kandalla et al., ICPP 2010: large Alltoall, 64 ranks on 8 nodes of 2 x 4 Nehalem cores; their measurement, "
         "not this machine's")  # fmt: skip

# What is lost without a part, and where the figure is from: never one of this machine.
WORTH = {
    "pstate": {"text": "frequency scaling took the paper's cluster from 2.3 to 1.8 kW (22 % less)", "source": _ICPP},
    "tstate": {"text": "throttling took the paper's cluster further down, from 1.8 to 1.6 kW (11 % less)", "source": _ICPP},
    "uncore": {
        "text": "about a fifth of a package's power while its CPUs wait",
        "source": "an assumption of poweraware: poweraware-calibrate measures it where there is a meter",
    },
    "energy": {
        "text": "nothing is saved less, but how many joules are saved is then a model's guess or unknown",
        "source": "poweraware: no decision of a lever depends on a meter",
    },
}
