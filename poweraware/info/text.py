# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""The report for people: what this process gets in the first line, then what to do about the rest.

Prose is broken at the width of the terminal; commands never are, so that they can be copied."""
from __future__ import annotations

import textwrap
from typing import Any, Dict, List

from poweraware.info.report import Part, Report, best_of
from poweraware.wording import plural

_VALUE, _ROW, _DEEPER = 17, 4, 8  # columns
_LEADS = ("this process would save by: ", "and also by:                ", " " * 28)


def render(report: Report, width: int, all_remedies: bool) -> str:
    """The text; all_remedies: also for what is not needed."""
    page = Page(width)
    _summary(page, report)
    _machine(page, report)
    _binding(page, report["binding"])
    for part in report["levers"]:
        _part(page, part["title"], part, all_remedies)
    _part(page, "energy meter", report["energy"], all_remedies)
    return "\n".join(page.lines) + "\n"


class Page:
    """Lines, none of them longer than width but for words and commands that are."""

    def __init__(self, width: int) -> None:
        self.lines: List[str] = []
        self.width = width

    def line(self, text: str = "", column: int = 0) -> None:
        """As it is."""
        self.lines.append(" " * column + text)

    def wrapped(self, lead: str, text: str) -> None:
        """Further lines begin below the end of lead."""
        lines = textwrap.wrap(" ".join(text.split()), self.width - len(lead), break_long_words=False, break_on_hyphens=False)
        self.line(lead + ("\n" + " " * len(lead)).join(lines))

    def row(self, label: str, value: str) -> None:
        """A label, and a value that is wrapped."""
        self.wrapped(f"  {label}".ljust(_VALUE), value)


def _summary(page: Page, report: Report) -> None:
    page.wrapped(_LEADS[0], report["saves_by"])
    if report["would_save_by"] is None:
        return
    page.wrapped(_LEADS[1], report["would_save_by"])
    if report["binding"]["bound"]:
        how = f"if it were not for this: {report['binding']['why_off']}"
    else:
        how = "once it is bound to CPUs of its own: mpirun --bind-to core; to try it here: poweraware-info --cpus 0"
    page.wrapped(_LEADS[2], how)


def _machine(page: Page, report: Report) -> None:
    machine, software = report["machine"], report["software"]
    cpu, monitor = machine["processor"], machine["wait_monitor"]
    page.line("\nmachine")
    page.row("host", f"{machine['host'] or ''}, {machine['kernel'] or ''}")
    if cpu:
        name = f", {cpu['name']}" if cpu["name"] else ""
        page.row("processor", "{vendor} family {family} model {model} stepping {stepping}".format(**cpu) + name)
    else:
        page.row("processor", "unknown (/proc/cpuinfo tells no vendor, family and model)")
    smt = "on" if machine["cpus"] > machine["cores"] else "off"
    page.row("topology", "packages {packages}, cores {cores}, CPUs {cpus}".format(**machine) + f" (SMT {smt})")
    page.row("waits", f"pause, {monitor}, futex" if monitor else "pause, futex (the processor offers no umwait, mwaitx or WFE)")
    if machine["gpus"]:
        what = f"{plural(machine['gpus'], 'GPU')} of NVIDIA"
        page.row("GPUs", f"{what}; collectives of the ranks of a node stay there, and so do reductions over several nodes; kernels of "
                         "programs can reduce among them where those of all ranks run at once (a GPU for each, or MPS): "
                         "man poweraware_stream_comm_team")  # fmt: skip
    page.row("cpufreq", _cpufreq(machine["cpufreq"]))
    where = "" if software["plugin_installed"] else " (not installed there)"
    page.row("poweraware", "{poweraware} for Open MPI {open_mpi}, plug-in {plugin}".format(**software) + where)


def _cpufreq(found: Dict[str, Any]) -> str:
    if "why_not" in found:
        return str(found["why_not"])
    text = f"{found['driver'] or ''}, governor {found['governor'] or ''} (of: {found['governors'] or ''}), "
    text += f"{(found['min_khz'] or 0) / 1e6:.2f} to {(found['max_khz'] or 0) / 1e6:.2f} GHz"
    if found["listed_frequencies"]:
        text += f" in {found['listed_frequencies']} steps"
    if found["boost_khz"]:
        text += f", boost to {found['boost_khz'] / 1e6:.2f} GHz"
    if found["transition_latency_ns"]:
        text += f", transition {found['transition_latency_ns'] / 1e3:.1f} us (the driver's figure)"
    return text


def _binding(page: Page, binding: Dict[str, Any]) -> None:
    exclusive = {
        None: "not asked (it would claim them)",
        True: "yes",
        False: f"no: another process of this user claims CPU {binding['shared_cpu']}",
    }
    page.line("\nbinding")
    page.row("own CPUs", f"{binding['own_cpus']} ({'bound' if binding['bound'] else 'not bound'})")
    page.row("reached", f"{binding['reached_cpus']} (own CPUs and their SMT siblings)")
    page.row("exclusive", exclusive[binding["exclusive"]])
    if binding["neighbours"]:
        page.row("neighbours", binding["neighbours"])
    if not binding["levers_allowed"]:
        page.row("levers", binding["why_off"] or "")


def _part(page: Page, title: str, part: Part, all_remedies: bool) -> None:
    best = best_of(part)
    page.line(f"\n{title}: " + (f"{best['name']} ({best['state']})" if best else "none"))
    if part["missing"]:
        page.row("it is worth", part["worth"]["text"])
        page.row("", f"({part['worth']['source']})")
    if best and "unit" in part:
        lowest, full = ((best[end] or 0) * part["shown_per_unit"] for end in ("lowest", "full"))
        page.row("range", f"{lowest:.4g} to {full:.4g} {part['shown_unit']}")
    if best:
        _cost(page, part["cost"])
    for number, domain in enumerate(part.get("domains", [])):
        page.row("" if number else "domains", _domain(domain))
    page.line("back ends, in the order in which they are tried", 2)
    for each in part["backends"]:
        _backend(page, each)
    if part["missing"] or all_remedies:
        _remedies(page, part)


def _cost(page: Page, cost: Dict[str, Any]) -> None:
    if "why_not" in cost:
        page.row("cost", f"not measured: {cost['why_not']}")
    elif "read_us" in cost:
        page.row("cost", f"{_spread(cost['read_us'])}, median of {cost['rounds']} readings of all domains")
    else:
        what = f"software alone, median of {cost['rounds']} on {plural(cost['cpus'], 'CPU')}"
        page.row("lowering", f"{_spread(cost['lower_us'])}, {what}")
        page.row("restoring", _spread(cost["restore_us"]))


def _spread(us: Dict[str, float]) -> str:
    return "{median:.2f} us (quartiles {low:.2f} and {high:.2f})".format(**us)


def _domain(domain: Dict[str, Any]) -> str:
    wrap = f"wraps after {domain['range_uj'] / 1e6:.0f} J" if domain["range_uj"] else "never wraps"
    return "{name}: {provenance} by {source}, steps of {resolution_uj:.3g} uJ every {update_us} us, ".format(**domain) + wrap


def _backend(page: Page, backend: Dict[str, Any]) -> None:
    reason = backend["reason"]
    line = f"    {backend['name']:<24} {backend['state']}"
    if reason and len(f"{line}: {reason}") > page.width:
        page.line(line + ":")
        page.wrapped(" " * _DEEPER, reason)
    else:
        page.line(f"{line}: {reason}" if reason else line)


def _remedies(page: Page, part: Part) -> None:
    """Each once, under the first back end that it is for."""
    told: List[Dict[str, Any]] = []
    for backend in part["backends"]:
        for remedy in backend["remedies"]:
            if remedy in told:
                continue
            if not told:
                page.line("what grants it, as root (one way is enough)", 2)
            told.append(remedy)
            page.wrapped(f"{' ' * _ROW}{backend['name']}: ", remedy["text"])
            for command in remedy["commands"]:
                page.line(command, _DEEPER)
            if remedy["caution"]:
                page.wrapped(" " * _DEEPER + "(", remedy["caution"] + ")")
