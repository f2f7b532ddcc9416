package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
)

// world is a phase on a pool that knows when tasks start and end, and nothing else. A task takes 15 to 25 s, and eight
// times as long where its slot is bad or its attempt has bad luck.
type world struct {
	name         string
	tasks, slots int
	badSlots     int     // so many slots are slow, from the first on; each slot is then a machine that the tracker knows
	badLuck      float64 // the share of attempts that are slow, wherever they run
	record       bool    // the host keeps a record of its machines, which knows nothing at first
	second       bool    // what counts is the second phase on that record, which knows the first
}

var worlds = []world{
	{name: "one machine of ten 8x slow, 200 tasks", tasks: 200, slots: 10, badSlots: 1},
	{name: "the same, with Config.Record", tasks: 200, slots: 10, badSlots: 1, record: true},
	{name: "the same, as the second phase on that record", tasks: 200, slots: 10, badSlots: 1, record: true, second: true},
	{name: "5 % of attempts 8x, 200 tasks on 20 slots", tasks: 200, slots: 20, badLuck: 0.05},
	{name: "one wave, 5 % of attempts 8x, 40 tasks on 50 slots", tasks: 40, slots: 50, badLuck: 0.05},
}

type namedPolicy struct {
	name string
	restart.Policy
}

// worldPolicies are the policies with their defaults, except that LATE and Flink wait for 10 s instead of a minute.
func worldPolicies() []namedPolicy {
	return []namedPolicy{
		{"never", restart.Never{}},
		{"mantri", restart.Mantri{}},
		{"late", rules.LATE{MinAge: 10 * time.Second}},
		{"hadoop", rules.Hadoop{}},
		{"mapreduce", rules.MapReduce{}},
		{"dryad", rules.Dryad{}},
		{"spark", rules.Spark{}},
		{"flink", rules.Flink{LowerBound: 10 * time.Second}},
	}
}

// outcome is what a phase took: until its last end, and of all slots.
type outcome struct{ wall, used time.Duration }

// share is a mean outcome as a percentage of that without a policy and without a record.
type share struct{ wall, used float64 }

// writeWorlds writes the table of the worlds: a line for each, a column for each policy.
func writeWorlds(w io.Writer, seeds int) error {
	policies := worldPolicies()
	fmt.Fprint(w, "\n| no progress |")
	for _, p := range policies {
		fmt.Fprintf(w, " %s |", p.name)
	}
	fmt.Fprintf(w, "\n|---|%s\n", strings.Repeat("---|", len(policies)))
	for _, of := range worlds {
		row, err := of.row(policies, seeds)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "| %s |", of.name)
		for _, s := range row {
			fmt.Fprintf(w, " %.1f/%.1f |", s.wall, s.used)
		}
		fmt.Fprintln(w)
	}
	return nil
}

// row returns the mean shares of each policy. All policies meet the same luck.
func (w world) row(policies []namedPolicy, seeds int) ([]share, error) {
	row := make([]share, len(policies))
	for seed := range uint64(seeds) {
		plain := w
		plain.record, plain.second = false, false
		none, err := plain.run(restart.Never{}, seed+1)
		if err != nil {
			return nil, err
		}
		for i, p := range policies {
			o, err := w.run(p.Policy, seed+1)
			if err != nil {
				return nil, err
			}
			row[i].wall += 100 * o.wall.Seconds() / none.wall.Seconds() / float64(seeds)
			row[i].used += 100 * o.used.Seconds() / none.used.Seconds() / float64(seeds)
		}
	}
	return row, nil
}
