#!/bin/sh
# Solves the LP files of a directory with CBC, with one core and a time limit for each file. Prints a row for each problem:
# name, lower bound, best placement, and whether the solver proved this placement optimal. See README.md.
directory=$1
limit=${2:-60}
for file in "$directory"/*.lp; do
	cbc "$file" -threads 1 -sec "$limit" -ratioGap 0 -allowableGap 0 -solve -quit >"$file.log" 2>&1
	awk -v name="$(basename "$file" .lp)" '
		/^Result - / { proven = /Optimal solution found/ ? "optimal" : "limit" }
		/^Objective value:/ { best = $3 }
		/^Lower bound:/ { bound = $3 }
		END { print name "," (proven == "optimal" ? best : bound) "," best "," proven }' "$file.log"
done
