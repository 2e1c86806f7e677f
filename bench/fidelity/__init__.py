"""What bench/fidelity-simulate measures: lab.py runs, the others know what to run and what was published."""
