# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Stands in for NPB's programs, our kernels, pw.x, hpcc and CPMD: prints $FAKE_OUTPUT, and says where it ran.
FAKE_FILE=NAME: that goes into a file instead.  FAKE_ENERGY_<scheme>: what @ENERGY@ becomes."""
from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[4]))

from poweraware.tests.synthetic import make_job  # noqa: E402


def main() -> int:
    begin_ns = time.time_ns()
    time.sleep(0.05)
    text = Path(os.environ["FAKE_OUTPUT"]).read_text(encoding="utf-8")
    text = text.replace("@ENERGY@", os.environ.get("FAKE_ENERGY_" + os.environ["OMPI_MCA_coll_poweraware_scheme"], ""))
    if "FAKE_FILE" in os.environ:
        Path(os.environ["FAKE_FILE"]).write_text(text, encoding="utf-8")
    else:
        print(text, end="")
    Path("arguments").write_text("\n".join(sys.argv[1:]), encoding="utf-8")
    document = {**make_job(factor=(time.time_ns() - begin_ns) / 1e10), "begin_ns": begin_ns}  # its time is 10 s times that
    Path(os.environ["OMPI_MCA_coll_poweraware_report_dir"], "job.json").write_text(json.dumps(document))
    return 0


if __name__ == "__main__":
    sys.exit(main())
