# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""A small plane-wave calculation for pw.x of Quantum ESPRESSO: eight silicon atoms.

The pseudopotential is the local one of Appelbaum and Hamann (Phys. Rev. B 8, 1777, 1973), in Rydberg units
V(r) = -2 Z/r erf(sqrt(a) r) + (v1 + v2 r^2) exp(-a r^2).  It is simple enough to be written down here, and gives silicon
a lattice constant within three percent of the measured 10.26 bohr.
"""
from __future__ import annotations

import math
from pathlib import Path
from typing import List

INPUT = "si8.in"
TOTAL_ENERGY_RY = -66.52012118  # by pw.x 6.7 in one process, without this project
TOLERANCE_RY = 1e-5

_PSEUDOPOTENTIAL = "Si.upf"
_LATTICE_BOHR = 10.26
_VALENCE = 4.0
_A, _V1, _V2 = 0.6102, 3.042, -1.372
_FIRST_BOHR, _LAST_BOHR, _POINTS = 1e-5, 12.0, 801
_START_WIDTH = 0.6  # of the Gaussian charge from which the calculation starts
_COLUMNS = 4


def write(folder: Path) -> None:
    """Puts the input and the pseudopotential into a folder."""
    (folder / _PSEUDOPOTENTIAL).write_text(_upf(), encoding="ascii")
    (folder / INPUT).write_text(_input(_LATTICE_BOHR), encoding="ascii")


def _input(lattice_bohr: float) -> str:
    corners = ((0.0, 0.0, 0.0), (0.0, 0.5, 0.5), (0.5, 0.0, 0.5), (0.5, 0.5, 0.0))
    atoms = "".join(
        f"Si {x + shift:.2f} {y + shift:.2f} {z + shift:.2f}\n" for x, y, z in corners for shift in (0.0, 0.25)
    )
    return f"""&control
  calculation = 'scf', prefix = 'si', pseudo_dir = '.', outdir = 'out', disk_io = 'none'
/
&system
  ibrav = 1, celldm(1) = {lattice_bohr}, nat = 8, ntyp = 1, ecutwfc = 16.0, nosym = .true.
/
&electrons
  conv_thr = 1.0d-8, startingwfc = 'random'
/
ATOMIC_SPECIES
Si 28.086 {_PSEUDOPOTENTIAL}
ATOMIC_POSITIONS crystal
{atoms}K_POINTS automatic
2 2 2 1 1 1
"""


def _upf() -> str:
    step = math.log(_LAST_BOHR / _FIRST_BOHR) / (_POINTS - 1)
    radii = [_FIRST_BOHR * math.exp(i * step) for i in range(_POINTS)]
    charge = [4 * math.pi * r * r * _VALENCE * (_START_WIDTH / math.pi) ** 1.5 * math.exp(-_START_WIDTH * r * r)
              for r in radii]  # fmt: skip
    return f"""<UPF version="2.0.1">
<PP_INFO>
Silicon, local pseudopotential of Appelbaum and Hamann (1973)
</PP_INFO>
<PP_HEADER generated="poweraware" author="poweraware" date="" comment="" element="Si" pseudo_type="NC"
 relativistic="no" is_ultrasoft="F" is_paw="F" is_coulomb="F" has_so="F" has_wfc="F" has_gipaw="F"
 core_correction="F" functional="PZ" z_valence="{_VALENCE}" total_psenergy="0.0" wfc_cutoff="0.0" rho_cutoff="0.0"
 l_max="0" l_local="-1" mesh_size="{_POINTS}" number_of_wfc="0" number_of_proj="0"/>
<PP_MESH dx="{step:.12E}" mesh="{_POINTS}" xmin="{math.log(_FIRST_BOHR * _VALENCE):.12E}" rmax="{_LAST_BOHR}" zmesh="{_VALENCE}">
{_column("PP_R", radii)}{_column("PP_RAB", [r * step for r in radii])}</PP_MESH>
{_column("PP_LOCAL", [_potential_ry(r) for r in radii])}<PP_NONLOCAL>
</PP_NONLOCAL>
<PP_PSWFC>
</PP_PSWFC>
{_column("PP_RHOATOM", charge)}</UPF>
"""


def _potential_ry(r: float) -> float:
    return -2 * _VALENCE / r * math.erf(math.sqrt(_A) * r) + (_V1 + _V2 * r * r) * math.exp(-_A * r * r)


def _column(name: str, values: List[float]) -> str:
    lines = [" ".join(f"{value:.12E}" for value in values[i : i + _COLUMNS]) for i in range(0, len(values), _COLUMNS)]
    return f'<{name} type="real" size="{len(values)}" columns="{_COLUMNS}">\n' + "\n".join(lines) + f"\n</{name}>\n"
