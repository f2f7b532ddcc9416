package main

import (
	"container/heap"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/straggler-go/straggler/estimate/machines"
)

// world simulates the attempts of one scheduler on the machines. An attempt takes 20 s, with a spread of 22 %. One of
// twenty attempts takes 4 times as long on any machine, and every attempt takes 8 times as long on a bad machine. An
// attempt that has run for 1.3 times the usual time is killed; its progress is known.
type world struct {
	Machines, Bad int
	Rate          float64 // starts of attempts per second
	random        *rand.Rand
	next          time.Duration // when the next attempt starts
	running       ends
}

// usual is the usual time of an attempt on a good machine.
const usual = 20 * time.Second

// end is the end of an attempt.
type end struct {
	at      time.Duration
	machine int
	attempt machines.Attempt
	how     machines.Outcome
}

// ends is a heap of ends, the earliest first.
type ends []end

func (e ends) Len() int           { return len(e) }
func (e ends) Less(i, j int) bool { return e[i].at < e[j].at }
func (e ends) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }
func (e *ends) Push(x any)        { *e = append(*e, x.(end)) }
func (e *ends) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}

// bad reports whether a machine is one of the slow ones.
func (w *world) bad(machine int) bool { return machine < w.Bad }

func (w *world) name(machine int) string {
	return fmt.Sprintf("rack%02d-node%04d", machine%w.Machines%40, machine)
}

// until simulates all starts and ends up to now, and calls tell for each end.
func (w *world) until(now time.Duration, tell func(end)) {
	for {
		switch {
		case len(w.running) > 0 && w.running[0].at <= min(now, w.next):
			tell(heap.Pop(&w.running).(end))
		case w.next <= now:
			heap.Push(&w.running, w.start(w.next))
			w.next += time.Duration(w.random.ExpFloat64() / w.Rate * float64(time.Second))
		default:
			return
		}
	}
}

func (w *world) start(at time.Duration) end {
	e := end{machine: w.random.IntN(w.Machines)}
	factor := math.Exp(.22 * w.random.NormFloat64())
	if w.random.IntN(20) == 0 {
		factor *= 4
	}
	if w.bad(e.machine) {
		factor *= 8
	}
	took := time.Duration(factor * float64(usual))
	e.attempt = machines.Attempt{Ran: took, Usual: usual, Done: 1}
	if limit := usual * 13 / 10; took > limit {
		e.attempt.Ran, e.attempt.Done, e.how = limit, float64(limit)/float64(took), machines.Killed
	}
	e.at = at + e.attempt.Ran
	return e
}
