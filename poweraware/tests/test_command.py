# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""The command: subcommands, exit statuses, and a real job with its page."""
from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import time
from html import unescape
from pathlib import Path
from typing import List, Optional

import pytest

from poweraware import advice, folders, main, run
from poweraware.tests.synthetic import make_job

PROGRAM = Path(main.__file__).resolve().parent / "poweraware"
BUILD = Path(os.environ.get("PWR_BUILDDIR", "build"))
MPIRUN = os.environ.get("MPIRUN", "mpirun")
ROOT_MAY = {f"{who}_ALLOW_RUN_AS_ROOT{more}": "1" for who in ("OMPI", "PRTE") for more in ("", "_CONFIRM")}


@pytest.fixture
def document(tmp_path: Path) -> Path:
    path = tmp_path / "job.json"
    path.write_text(json.dumps(make_job()), encoding="utf-8")
    return path


def poweraware(*arguments: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([sys.executable, str(PROGRAM), *arguments], capture_output=True, text=True, cwd=folder,
                          env={**os.environ, **ROOT_MAY}, check=False)  # fmt: skip


def test_help_everywhere(tmp_path: Path) -> None:
    names = ("run", "top", "report", "show", "fleet", "compare", "timeline", "export", "validate", "decide", "knowledge")
    for arguments in (["--help"], *([name, "--help"] for name in names)):
        done = poweraware(*arguments, folder=tmp_path)
        assert done.returncode == 0 and "usage: poweraware" in done.stdout, done.stderr
    assert poweraware(folder=tmp_path).returncode == 2


def test_show_export_validate(document: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["show", str(document)]) == 0
    assert "alltoall" in capsys.readouterr().out
    assert main.main(["validate", str(tmp_path), str(document)]) == 0
    output = tmp_path / "jobs.prom"
    assert main.main(["export", "-f", "prometheus", "-o", str(output), str(document)]) == 0
    assert "poweraware_job_joules" in output.read_text()
    assert main.main(["export", "-f", "csv", str(document)]) == 0
    assert capsys.readouterr().out.splitlines()[-2].startswith("exe_time;")


@pytest.mark.parametrize("text, said", [("{", "not JSON"), ("[]", "is not of type 'object'"), ('{"format": "x"}', "is a required property")])
def test_wrong_documents_are_named(text: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = tmp_path / "wrong.json"
    wrong.write_text(text)
    for command in (["show"], ["validate"], ["export", "-f", "csv"]):
        assert main.main([*command, str(wrong)]) == 2
        error = capsys.readouterr().err
        assert "wrong.json" in error and said in error
    assert main.main(["show", str(tmp_path / "no.json")]) == 2
    assert "no.json: cannot be read: No such file" in capsys.readouterr().err


def test_report_that_cannot_be_written(document: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    assert main.main(["report", str(document), "-o", str(tmp_path / "no" / "page.html")]) == 2
    assert "no/page.html: No such file or directory" in capsys.readouterr().err


def test_run_needs_a_command(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main.main(["run"]) == 2 and "which command?" in capsys.readouterr().err
    assert main.main(["run", "-o", str(tmp_path / "out"), "--", "/no/such/program"]) == 127
    assert "cannot run /no/such/program" in capsys.readouterr().err
    assert main.main(["run", "-o", str(tmp_path / "out"), "--", str(tmp_path)]) == 126
    assert f"cannot run {tmp_path}: Permission denied" in capsys.readouterr().err
    assert main.main(["run", "--build", str(tmp_path), "-o", str(tmp_path), "--", "true"]) == 2
    assert "there is no" in capsys.readouterr().err


def test_a_plugin_that_open_mpi_does_not_look_for_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(run, "_PLUGIN", tmp_path / "plugin")
    assert "OMPI_MCA_mca_base_component_path" not in run.parameters(None, run.Switches())
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "plugin").symlink_to("elsewhere")
    found = run.parameters(None, run.Switches())
    assert found["OMPI_MCA_mca_base_component_path"] == f"{tmp_path}/elsewhere:SYS_DEFAULT:USER_DEFAULT"
    assert found["PMIX_MCA_mca_base_component_path"] == ""


@pytest.mark.parametrize("users, found", [(None, "epoll"), ("poll", "poll")])
def test_sockets_are_not_asked_one_by_one(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str],
                                          users: Optional[str], found: str) -> None:  # fmt: skip
    monkeypatch.delenv("OMPI_MCA_opal_event_include", raising=False)
    if users is not None:
        monkeypatch.setenv("OMPI_MCA_opal_event_include", users)
    assert run.run(["sh", "-c", "echo $OMPI_MCA_opal_event_include"], None, run.Switches()) == 0
    assert capfd.readouterr().out == f"{found}\n"


@pytest.mark.parametrize("status", [0, 7])
def test_a_command_without_the_plugin_leaves_nothing(tmp_path: Path, status: int) -> None:
    done = poweraware("run", "-o", "out", "--", "sh", "-c", f"exit {status}", folder=tmp_path)
    assert done.returncode == status and "no process loaded the plug-in" in done.stderr
    assert not list(tmp_path.iterdir())


def test_the_status_is_the_commands(document: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
                                    tmp_path: Path) -> None:  # fmt: skip
    """Whatever becomes of the report: no folder, no room, a document that is wrong."""
    (tmp_path / "file").touch()
    assert main.main(["run", "-o", str(tmp_path / "file" / "out"), "--", "sh", "-c", "exit 3"]) == 3
    assert "the command runs without a report" in capsys.readouterr().err
    assert main.main(["run", "-o", str(tmp_path / "file"), "--", "true"]) == 0
    assert f"{tmp_path / 'file'}: is no folder: the command runs without a report" in capsys.readouterr().err
    assert main.main(["run", "-o", str(tmp_path / "wrong"), "--", "sh", "-c", f"echo wrong >{tmp_path}/wrong/job.json"]) == 0
    assert "job.json: line 1, column 1: not JSON" in capsys.readouterr().err

    def no_room(path: Path, text: str) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    monkeypatch.setattr(main, "replace", no_room)
    monkeypatch.setattr(main, "_page", lambda paths: "")
    assert main.main(["run", "-o", str(tmp_path / "full"), "--", "cp", str(document), str(tmp_path / "full" / "job.json")]) == 0
    assert "page.html: No space left on device" in capsys.readouterr().err


def test_a_report_is_never_overwritten(document: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
                                       tmp_path: Path) -> None:  # fmt: skip
    monkeypatch.setattr(main, "_page", lambda paths: "")
    for name in ("out", "out-2", "out-3"):
        assert main.main(["run", "-o", str(tmp_path / "out"), "--", "cp", str(document), str(tmp_path / name / "job.json")]) == 0
        assert str(tmp_path / name / "page.html") in capsys.readouterr().err
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(time, "strftime", lambda form: "poweraware-now")  # all in one second
    first = [run.new_folder(None) for _ in range(3)]
    assert [path and path.name for path in first] == ["poweraware-now", "poweraware-now-2", "poweraware-now-3"]
    for name, value in (("SLURM_JOB_ID", "7"), ("SLURM_ARRAY_JOB_ID", "5"), ("SLURM_ARRAY_TASK_ID", "2")):
        monkeypatch.setenv(name, value)
    assert (run.new_folder(None) or tmp_path).name == "poweraware-now-5-2"


def test_jobs_that_start_at_once_have_folders_of_their_own(tmp_path: Path) -> None:
    """Also with one -o: a job array's tasks."""
    together = "touch $$.here; until [ $(ls *.here | wc -l) = 4 ]; do sleep 0.1; done"
    line = [sys.executable, str(PROGRAM), "run", "-o", "out", "--", "sh", "-c",
            f"{together}; echo $OMPI_MCA_coll_poweraware_report_dir"]  # fmt: skip
    jobs = [subprocess.Popen(line, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) for _ in range(4)]
    assert len({job.communicate()[0] for job in jobs}) == 4


def test_what_the_user_has_set_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMPI_MCA_coll_poweraware_report", "full")
    output = tmp_path / "env"
    assert run.run(["sh", "-c", f"env > {output}"], tmp_path / "out", run.Switches("dvfs")) == 0
    text = output.read_text()
    assert "OMPI_MCA_coll_poweraware_report=full\n" in text
    assert "OMPI_MCA_coll_poweraware_scheme=dvfs\n" in text and "OMPI_MCA_coll_poweraware_priority=77\n" in text


def mpi(ranks: int, *program: str) -> List[str]:
    return [MPIRUN, "-np", str(ranks), "--oversubscribe", str(BUILD / "coll_poweraware" / "tests" / "check_job"), *program]


@pytest.fixture(scope="module")
def built() -> List[str]:
    if not (BUILD / "coll_poweraware" / "tests" / "check_job").exists():
        pytest.skip("coll_poweraware's check programs are not built")
    return ["run", "--build", str(BUILD), "-o", "out"]


def test_a_job_and_its_page(built: List[str], tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    done = poweraware(*built, "--timeline", "--", *mpi(3), folder=tmp_path)
    assert done.returncode == 0 and done.stdout.count("check_job: rank") == 3, done.stdout + done.stderr
    assert "poweraware: check_job: 3 processes on 1 node," in done.stderr and "page.html" in done.stderr
    for line in advice.advice(folders.load(tmp_path / "out")):
        assert f"poweraware: {line}\n" in done.stderr and line in unescape((tmp_path / "out" / "page.html").read_text())
    assert "check_job" in (tmp_path / "out" / "page.html").read_text()
    assert "of allreduce" in (tmp_path / "out" / "timeline.html").read_text()
    assert poweraware("validate", "out", folder=tmp_path).returncode == 0


def test_a_job_that_is_interrupted_has_a_page_too(built: List[str], tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    # pylint: disable=consider-using-with
    process = subprocess.Popen([sys.executable, str(PROGRAM), *built, "--", *mpi(2, "sleep")], cwd=tmp_path,
                               env={**os.environ, **ROOT_MAY}, start_new_session=True, stderr=subprocess.PIPE, text=True)  # fmt: skip
    while process.poll() is None and not list((tmp_path / "out").glob("job.*.partial.json")):
        time.sleep(0.1)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    _, errors = process.communicate()
    assert process.returncode != 0 and "page.html" in errors, errors
    assert "is not complete" in (tmp_path / "out" / "page.html").read_text()
