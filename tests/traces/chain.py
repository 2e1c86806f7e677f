#!/usr/bin/env python3
"""chain.py N: a melt of bead-spring chains as a LAMMPS data file: a curve winds through a cubic lattice of N x N x N beads (density 0.85), and is
cut into chains of 100 beads. The velocities are drawn by the input."""
import sys

N = int(sys.argv[1])
SPACING = (1 / 0.85) ** (1 / 3)
LENGTH = 100


def curve():
    """All places of the lattice, each beside the one before."""
    line = []
    for z in range(N):
        layer = []
        for y in range(N):
            row = [(x, y, z) for x in range(N)]
            layer += row if y % 2 == 0 else row[::-1]
        line += layer if z % 2 == 0 else layer[::-1]
    return line


beads = curve()
chains = [beads[i:i + LENGTH] for i in range(0, len(beads), LENGTH)]
bonds = sum(len(chain) - 1 for chain in chains)
print("bead-spring chains\n\n%d atoms\n%d bonds\n1 atom types\n1 bond types\n" % (len(beads), bonds))
for axis in "xyz":
    print("0 %.6f %slo %shi" % (N * SPACING, axis, axis))
print("\nMasses\n\n1 1.0\n\nAtoms\n")
number = 0
for molecule, chain in enumerate(chains):
    for x, y, z in chain:
        number += 1
        print("%d %d 1 %.6f %.6f %.6f" % (number, molecule + 1, x * SPACING, y * SPACING, z * SPACING))
print("\nBonds\n")
number = bond = 0
for chain in chains:
    for i in range(len(chain)):
        number += 1
        if i > 0:
            bond += 1
            print("%d 1 %d %d" % (bond, number - 1, number))
