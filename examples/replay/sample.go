package main

import (
	"math/rand/v2"
	"slices"

	"github.com/straggler-go/straggler/examples/internal/sim"
)

// draw keeps a number of the phases, drawn at random with equal probability; 0 keeps all. The phases that remain lose
// the record of the phases whose output they read.
func (l *loaded) draw(number int) {
	if number == 0 || number >= len(l.phases) {
		return
	}
	order := rand.New(rand.NewPCG(l.seed, 0)).Perm(len(l.phases))[:number]
	slices.Sort(order)
	var phases []*sim.Phase
	tasks := l.tasks[:0:0]
	for _, i := range order {
		p := *l.phases[i]
		p.DependsOn = nil
		phases = append(phases, &p)
		tasks = append(tasks, l.tasks[i])
	}
	l.phases, l.tasks = phases, tasks
}
