package main

import (
	"time"

	"github.com/straggler-go/straggler/clone"
	"github.com/straggler-go/straggler/delay/assign"

	"github.com/straggler-go/straggler/examples/internal/cluster"
)

// What D6 and D7 chose: how long a task reads, as a part of the time for which it computes, and which part of its
// bandwidth a clone has while another reads the same output: transfers are a third slower where they contend (§4.1).
const (
	reading    = 0.5
	contention = 0.7
	chains     = 120 // number of jobs
)

// gains has the reduction of the times of small jobs by clones, for three ways to read.
type gains struct{ delayed, contended, exclusive float64 }

// assignments runs Bing's jobs as chains of phases that read all output of the phase before, with LATE and within
// Dolly's budget. Clones wait for outputs of their own as long as waiting pays (delay assignment), not at all (CC),
// or until they have them (CAC, in which an output goes to exactly one clone of a task, §4.1).
func assignments(seed uint64, phases int) gains {
	base := bing.config(seed, chains, phases)
	base.Record = false
	t := trace{shape: bing, config: base, base: must(base)}
	by := func(how *cluster.Assignment) float64 {
		c := base
		c.Clone, c.Straggler, c.Contention, c.Assign = &clone.Config{}, bing.stragglers, contention, how
		return t.sooner(must(c), small)
	}
	return gains{
		delayed:   by(&cluster.Assignment{Every: 10 * time.Minute}),
		contended: by(nil),
		exclusive: by(&cluster.Assignment{Fixed: true, Window: assign.Forever, Exclusive: true}),
	}
}
