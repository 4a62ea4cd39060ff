# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""The command poweraware: what it can do, each with --help."""
from __future__ import annotations

import argparse
import contextlib
import json
import sys
from pathlib import Path
from typing import List, Optional, Sequence

from poweraware import advice, before, compare, decide, decisions, export, fleet, folders, knowledge, run, sessions, tables, top, trace
from poweraware.documents import DocumentError, replace
from poweraware.index import Index, usual_path
from poweraware.session import text

_DOCUMENTS = "a job.json, or a folder with one or with what is left of a job that was killed; or a session of bench/run"


def parser() -> argparse.ArgumentParser:
    """Options of all subcommands."""
    options = argparse.ArgumentParser(
        prog="poweraware",
        description="Run MPI jobs with an energy report, and turn reports into pages, tables and other formats.",
        epilog="Exit status: 0 = done, 2 = a document or an option is wrong; of run that of its command.",
    )
    commands = options.add_subparsers(metavar="COMMAND", required=True)
    _add_run(commands)
    _add_top(commands)
    _add_report(commands)
    _add_show(commands)
    _add_fleet(commands)
    _add_compare(commands)
    _add_timeline(commands)
    _add_export(commands)
    _add_validate(commands)
    _add_decide(commands)
    _add_knowledge(commands)
    return options


def main(arguments: Optional[List[str]] = None) -> int:
    """Runs the command; returns its exit status."""
    options = parser().parse_args(arguments)
    try:
        status: int = options.function(options)
        return status
    except BrokenPipeError:
        sys.stderr.close()  # whoever reads our output has had enough
        return 0
    except (DocumentError, ImportError, OSError) as error:
        _complain(error)
    return 2


def _complain(error: Exception) -> None:
    if isinstance(error, ImportError):
        run.say(f"{sys.executable}: {error}: install matplotlib, or use show")
    elif isinstance(error, OSError):
        run.say(f"{error.filename}: {error.strerror}")
    else:
        run.say(str(error))


# ---- what it can do ----


def _add_run(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    found = commands.add_parser(
        "run",
        help="run an MPI command with the plug-in and make its page",
        description="Runs COMMAND (mpirun or srun with all its options) with the plug-in and its report switched on, "
        "and writes the job's page. Parameters that are set already, by option or environment, are kept.",
        epilog="example: poweraware run -- mpirun -np 8 ./program",
    )
    found.add_argument("-o", "--output", type=Path, metavar="DIR", help="folder of the documents (default: poweraware-<time>); one with a report already is left alone, and DIR-2 taken")
    found.add_argument("--scheme", choices=("off", "dvfs", "throttle", "auto"), help="power scheme (default: auto)")
    found.add_argument("--timeline", action="store_true", help="trace the ranks, and write a chart of one call as well")
    found.add_argument("--build", type=Path, metavar="DIR", help="use a plug-in that is built in DIR, not an installed one")
    found.add_argument("command", nargs=argparse.REMAINDER, metavar="COMMAND ...")
    found.set_defaults(function=_run)


def _run(options: argparse.Namespace) -> int:
    command = options.command[1:] if options.command[:1] == ["--"] else options.command
    if not command:
        raise DocumentError("run: which command? (example: poweraware run -- mpirun -np 8 ./program)")
    switches = run.Switches(options.scheme, options.timeline, options.build)
    run.parameters(None, switches)  # a wrong option is said before the command runs
    folder = run.new_folder(options.output)
    status = run.run(command, folder, switches)
    if folder is not None:
        try:
            _write_report(folder, options.timeline)
        except (DocumentError, ImportError, OSError) as error:
            _complain(error)
    return status


def _write_report(folder: Path, with_timeline: bool) -> None:
    found = run.wait_for_documents(folder)
    page = folder / "page.html"
    if not found:
        page.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            folder.rmdir()  # unless there is something in it
        raise DocumentError(f"no report in {folder}: no process loaded the plug-in, or none got to MPI_Init "
                            "(ompi_info | grep poweraware says whether Open MPI finds it)")  # fmt: skip
    replace(page, _page([folder] if found[0].name.endswith(".partial.json") else found))
    job = folders.load(folder)
    for line in (decisions.sentence(job), *advice.advice(job)):
        if line:
            run.say(line)
    run.say(str(page))
    if with_timeline:
        _write_timeline(folder, folder / "timeline.html", None, None)
        run.say(str(folder / "timeline.html"))


def _add_top(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    found = commands.add_parser(
        "top",
        help="who waits where, now",
        description="Shows the ranks of your running jobs on this node: which collective or region they are in and for how long, "
        "CPU, and the node's power. With DIR, the nodes of the job that writes its report there. Only jobs with a report "
        "(poweraware run, coll_poweraware_report or _report_dir) can be seen. Nothing is written.",
        epilog="example: ssh NODE poweraware top",
    )
    found.add_argument("folder", nargs="?", type=Path, metavar="DIR", help="folder of a job's report (coll_poweraware_report_dir)")
    found.add_argument("-d", "--delay", type=float, default=1.0, metavar="SECONDS", help="between two looks (default 1)")
    found.add_argument("-n", "--iterations", type=int, metavar="N", help="end after so many looks (default: when interrupted)")
    found.add_argument("--run-dir", metavar="DIR", help="where ranks keep their pages (coll_poweraware_run_dir)")
    found.add_argument("--build", type=Path, metavar="DIR", help="use the programs that are built in DIR, not installed ones")
    found.set_defaults(function=_top)


def _top(options: argparse.Namespace) -> int:
    if not 0.1 <= options.delay <= 3600:
        raise DocumentError(f"top: --delay {options.delay:g} is not from 0.1 to 3600 seconds")
    if options.iterations is not None and options.iterations < 1:
        raise DocumentError(f"top: --iterations {options.iterations} is not a positive number")
    helpers = options.build.resolve() / "opal" if options.build else None
    watch = top.Watch()
    if options.folder is not None:
        folder = folders.Folder(options.folder)
        top.follow(lambda: top.of_folder(folder), options.delay, options.iterations)
    else:
        top.follow(lambda: watch.text(top.look(helpers, options.run_dir)), options.delay, options.iterations)
    return 0


def _add_report(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    found = commands.add_parser("report", help="a page with pictures", description="Writes one self-contained HTML page.")
    found.add_argument("documents", nargs="+", type=Path, metavar="DOCUMENT", help=_DOCUMENTS)
    found.add_argument("-o", "--output", type=Path, required=True, metavar="PAGE.html")
    found.set_defaults(function=_report)


def _report(options: argparse.Namespace) -> int:
    _write_page(options.documents, options.output)
    return 0


def _write_page(paths: Sequence[Path], output: Path) -> None:
    output.write_text(_page(paths), encoding="utf-8")


def _page(paths: Sequence[Path]) -> str:
    if sessions.all_or_none(paths):
        documents = [sessions.load(path) for path in paths]
        from poweraware.session import page as session_page  # here, so that the rest works without matplotlib

        return session_page.render(documents, [sessions.name_of(path) for path in paths])
    jobs = [folders.load(path) for path in paths]
    from poweraware import page

    return page.render(jobs, [_name(path) for path in paths])


def _add_show(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    found = commands.add_parser("show", help="the tables as text", description="Prints the tables of the page.")
    found.add_argument("documents", nargs="+", type=Path, metavar="DOCUMENT", help=_DOCUMENTS)
    found.set_defaults(function=_show)


def _show(options: argparse.Namespace) -> int:
    print("\n\n".join(_shown(path) for path in options.documents))
    return 0


def _shown(path: Path) -> str:
    return text.render(sessions.load(path)).rstrip() if sessions.is_one(path) else tables.as_text(folders.load(path))


def _add_fleet(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    found = commands.add_parser(
        "fleet",
        help="many jobs together: who waited, and what that cost",
        description="Adds up the documents of jobs in a folder and all folders below it, by user, application, node and time, and "
        "says which jobs to look at first. An index keeps what was read, so only new and changed documents are read again. "
        "Documents that are wrong are left out and named.",
        epilog="example: poweraware fleet /srv/poweraware -o fleet.html",
    )
    found.add_argument("folder", type=Path, metavar="DIR")
    found.add_argument("-o", "--output", type=Path, metavar="PAGE.html", help="write a page with pictures; replaced as a whole")
    found.add_argument("--index", type=Path, metavar="FILE", help="one for each DIR (default: in $XDG_CACHE_HOME/poweraware)")
    found.add_argument("--rows", type=int, default=20, metavar="N", help="of each table (default 20)")
    found.set_defaults(function=_fleet)


def _fleet(options: argparse.Namespace) -> int:
    if options.rows < 1:
        raise DocumentError(f"fleet: --rows {options.rows} is not a positive number")
    with Index(options.index or usual_path(options.folder)) as index:
        index.update(options.folder)
        print(fleet.as_text(index, options.rows))
        if options.output is not None:
            from poweraware import fleet_page  # here, so that the rest works without matplotlib

            replace(options.output, fleet_page.render_page(index, options.folder.resolve().name, options.rows))
    return 0


def _add_compare(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    found = commands.add_parser(
        "compare",
        help="what differs between repeated runs",
        description="Compares groups of repeated runs of one program with the first group: ratios of time, energy, power "
        "and CPU time with confidence intervals. Runs that are not alike in more than their settings are refused. Of one "
        "session of bench/run the schemes are compared with each other, of several the sessions.",
        epilog="Exit status: 0 = no difference is shown, 1 = there is one, 2 = the runs cannot be compared.",
    )
    found.add_argument("groups", nargs="+", type=Path, metavar="GROUP",
                       help="a folder of runs (folders with a job.json in each, or documents), one document, or a session of bench/run")  # fmt: skip
    found.add_argument("--difference", type=float, default=3.0, metavar="PERCENT",
                       help="tell how many repetitions it takes to find such a difference (default 3)")  # fmt: skip
    found.set_defaults(function=_compare)


def _compare(options: argparse.Namespace) -> int:
    if not 0 < options.difference < 100:
        raise DocumentError(f"compare: --difference {options.difference:g} is not between 0 and 100")
    if sessions.all_or_none(options.groups):
        sets = sessions.groups(options.groups)
    else:
        sets = [[compare.load(path) for path in options.groups]]
    if any(len(groups) < 2 for groups in sets):
        raise DocumentError("compare: at least two groups of runs are needed")
    results = [compare.compare(groups, options.difference / 100) for groups in sets]
    print("\n".join(map(compare.as_text, results)), end="")
    return 1 if any(result.differs() for result in results) else 0


def _add_timeline(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    found = commands.add_parser(
        "timeline",
        help="a chart of who slept when",
        description="Writes a page with a Gantt chart of the ranks in one call, from the folder into which a job wrote its "
        "trace (--mca coll_poweraware_trace_dir DIR).",
    )
    found.add_argument("folder", type=Path, metavar="DIR")
    found.add_argument("-o", "--output", type=Path, required=True, metavar="PAGE.html")
    found.add_argument("--collective", metavar="NAME", help="alltoall, bcast .. (default: that in which most time was spent)")
    found.add_argument("--call", type=int, metavar="N", help="its N-th call, from 1 (default: one of median length)")
    found.set_defaults(function=_timeline)


def _timeline(options: argparse.Namespace) -> int:
    _write_timeline(options.folder, options.output, options.collective, options.call)
    return 0


def _write_timeline(folder: Path, output: Path, collective: Optional[str], call: Optional[int]) -> None:
    from poweraware import timeline  # here, so that the rest works without matplotlib

    ranks = trace.load(folder)
    begin_s, end_s, what = timeline.choose(ranks, collective, call)
    output.write_text(timeline.page(ranks, begin_s, end_s, what, _name(folder)), encoding="utf-8")


def _add_export(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    found = commands.add_parser(
        "export",
        help="CSV or Prometheus text",
        description="Prints documents in another format: csv (a line per job), csv-calls (per class of calls), csv-regions (per region) "
        "and csv-series (power over time) with COUNTDOWN's column names, or prometheus (for node_exporter's textfile "
        "collector).",
    )
    found.add_argument("documents", nargs="+", type=Path, metavar="DOCUMENT", help=_DOCUMENTS)
    found.add_argument("-f", "--format", choices=sorted(export.FORMATS), required=True)
    found.add_argument("-o", "--output", type=Path, metavar="FILE", help="replaced as a whole (default: standard output)")
    found.set_defaults(function=_export)


def _export(options: argparse.Namespace) -> int:
    jobs = [each for path in options.documents
            for each in (sessions.exported(path) if sessions.is_one(path) else [export.Exported(folders.load(path))])]  # fmt: skip
    exported = export.FORMATS[options.format](jobs)
    if options.output is None:
        print(exported, end="")
        return 0
    replace(options.output, exported)  # a collector must never see a part
    return 0


def _add_validate(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    found = commands.add_parser(
        "validate",
        help="check documents",
        description="Checks documents against their schema, and that parts add up to totals.",
    )
    found.add_argument("documents", nargs="+", type=Path, metavar="DOCUMENT", help=_DOCUMENTS)
    found.set_defaults(function=_validate)


def _validate(options: argparse.Namespace) -> int:
    wrong = 0
    for path in options.documents:
        try:
            if sessions.is_one(path):
                sessions.check(path)
            else:
                folders.load(path)
            print(f"{path}: valid")
        except DocumentError as error:
            print(error, file=sys.stderr)
            wrong += 1
    return 2 if wrong else 0


def _add_decide(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    found = commands.add_parser(
        "decide",
        help="the decision table that follows from measurements of poweraware-tune",
        description="Writes the decision table of scheme auto (coll_poweraware_decision_table) that follows from what "
        "poweraware-tune has measured; several documents are put together.",
        epilog="example: mpirun -np 64 poweraware-tune -o measured.json; poweraware decide measured.json -o decision.json",
    )
    found.add_argument("documents", nargs="+", type=Path, metavar="MEASUREMENTS")
    found.add_argument("-o", "--output", type=Path, required=True, metavar="FILE", help="replaced as a whole")
    found.add_argument("--margin", type=float, default=3.0, metavar="PERCENT",
                       help="stock stays where ours gains less time (default 3)")  # fmt: skip
    found.add_argument("--saving", type=float, default=20.0, metavar="PERCENT",
                       help="... unless ours saves so much CPU time within the margin (default 20)")  # fmt: skip
    found.add_argument("--before", type=Path, metavar="TABLE",
                       help="a decision table of other days or machines: what it has stays where it costs at most 3 %%, what it leaves "
                       "to stock must gain 5 %%, and its rows for layouts that were not measured stay")  # fmt: skip
    found.add_argument("--source", metavar="TEXT", help="source of the table (default: the commands that measured)")
    found.set_defaults(function=_decide)


def _decide(options: argparse.Namespace) -> int:
    for name, value, most in (("margin", options.margin, 50), ("saving", options.saving, 100)):
        if not 0 <= value <= most:
            raise DocumentError(f"decide: --{name} {value:g} is not a number from 0 to {most}")
    rules = decide.Rules(options.margin / 100, options.saving / 100)
    print(decide.write(options.documents, options.output, rules, options.source, before.load(options.before)))
    return 0


def _add_knowledge(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    found = commands.add_parser(
        "knowledge",
        help="what scheme auto has learnt in earlier jobs",
        description="Shows or removes what jobs with scheme auto have learnt for later ones, by type of machine, layout, operation "
        "and size. FILE: $XDG_CACHE_HOME/poweraware/knowledge.json by default, or below ~/.cache.",
        epilog="example: poweraware knowledge forget --older-than 90",
    )
    actions = found.add_subparsers(metavar="ACTION", required=True)
    show = actions.add_parser("show", help="as tables", description="Prints what is known, a table per type of machine.")
    show.add_argument("--json", action="store_true", help="the file, once it is checked")
    show.add_argument("file", nargs="?", type=Path, metavar="FILE")
    show.set_defaults(function=_knowledge_show)
    forget = actions.add_parser("forget", help="remove it", description="Removes entries, without a question, and says which.")
    machines = forget.add_mutually_exclusive_group()
    machines.add_argument("--machine", metavar="TEXT", help="those of machines with these letters in the titles of show")
    machines.add_argument("--all", action="store_true", help="the file as a whole, even if it is damaged")
    forget.add_argument("--older-than", type=int, metavar="DAYS", help="those that were last used before that")
    forget.add_argument("file", nargs="?", type=Path, metavar="FILE")
    forget.set_defaults(function=_knowledge_forget)


def _knowledge_show(options: argparse.Namespace) -> int:
    document = knowledge.load(options.file or knowledge.user_path())
    print(json.dumps(document, indent=2) if options.json else knowledge.as_text(document))
    return 0


def _knowledge_forget(options: argparse.Namespace) -> int:
    days = options.older_than
    if not options.all and not options.machine and days is None:
        raise DocumentError("knowledge forget: what? (--machine TEXT, --older-than DAYS or --all)")
    if days is not None and (days < 0 or options.all):
        raise DocumentError("knowledge forget: --older-than takes a number of days from 0, and not --all")
    print("\n".join(knowledge.forget(options.file or knowledge.user_path(), knowledge.Selection(options.machine, days))))
    return 0


def _name(path: Path) -> str:
    return path.name if path.is_dir() else path.parent.resolve().name or path.stem
