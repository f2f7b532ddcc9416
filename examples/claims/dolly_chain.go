package main

import (
	"time"

	"github.com/straggler-go/straggler/clone"
	"github.com/straggler-go/straggler/delay/assign"

	"github.com/straggler-go/straggler/examples/internal/cluster"
)

// What D6 and D7 chose: how long a task reads, as a part of the time for which it computes, and which part of its
// bandwidth a clone has while another reads the same output: transfers are a third slower where they contend (§4.3).
const (
	reading    = 0.5
	contention = 0.7
	chains     = 120 // number of jobs
)

// twoPhases has the gains of jobs of two phases that read everything.
var twoPhases = oncePerSeed(func(seed uint64) gains { return assignments(seed, 2, assign.AllToAll) })

// gains has the reduction of the times of small jobs by clones, for three ways to read.
type gains struct{ delayed, contended, exclusive float64 }

// value returns by how much the gain of delay assignment exceeds the mean of the gains of the two others.
func (g gains) value() float64 { return g.delayed - (g.contended+g.exclusive)/2 }

// assignments runs Bing's jobs as chains of phases that read the output of the phase before by a pattern, with LATE and within
// Dolly's budget. Clones wait for outputs of their own as long as waiting pays (delay assignment), not at all (CC:
// all clones read the outputs that come first, §4.1), or until they have them (CAC, in which an output goes to exactly
// one clone of a task, §4.1).
// They poll for outputs, as in Dolly's prototype (§5).
func assignments(seed uint64, phases int, pattern assign.Pattern) gains {
	base := bing.config(seed, chains, phases)
	base.Record = false
	for i := range base.Jobs {
		for k := 1; k < phases; k++ {
			p := &base.Jobs[i].Phases[k]
			if p.Pattern = pattern; pattern == assign.ManyToOne { // two to one
				p.Tasks = p.Tasks[:(len(p.Tasks)+1)/2]
			}
		}
	}
	t := trace{shape: bing, config: base, base: must(base)}
	by := func(how *cluster.Assignment) float64 {
		c := base
		c.Clone, c.Straggler, c.Contention, c.Assign = &clone.Config{}, bing.stragglers, contention, how
		return t.sooner(must(c), small)
	}
	return gains{
		delayed:   by(&cluster.Assignment{Every: 10 * time.Minute, Polls: true}),
		contended: by(nil),
		exclusive: by(&cluster.Assignment{Fixed: true, Window: assign.Forever, Exclusive: true, Polls: true}),
	}
}
