package main

import (
	"time"

	"github.com/straggler-go/straggler/estimate/machines"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/tracker"

	"straggler-examples/internal/des"
)

// worldInterval is how often the host looks at what runs: a tenth of a task's usual time.
const worldInterval = 2 * time.Second

// host runs one phase of a world in virtual time.
type host struct {
	world
	tracker *tracker.Tracker
	draws   *des.Draws
	events  des.Queue
	now     time.Duration
	slot    map[[2]int]int // of each task and attempt that run
	running []*[2]int      // task and attempt by slot; nil if free
	life    []uint32       // by slot: how many attempts it has had
	left    int
}

const (
	attemptEnds uint8 = iota
	hostLooks
)

// run takes the world's phase to its end under a policy. The luck of an attempt is the seed's, whatever the policy.
func (w world) run(policy restart.Policy, seed uint64) (outcome, error) {
	c := tracker.Config{Tasks: w.tasks, Slots: w.slots, Interval: worldInterval, Policy: policy}
	if w.badSlots > 0 {
		c.Machines = w.slots
	}
	if w.record {
		record, err := machines.New(machines.Config{})
		if err != nil {
			return outcome{}, err
		}
		c.Record = record
	}
	var began time.Duration
	if w.second {
		first, err := w.phase(c, des.NewDraws(^seed), 0)
		if err != nil {
			return outcome{}, err
		}
		began, c.Phase = first.wall, 1
	}
	return w.phase(c, des.NewDraws(seed), began)
}

func (w world) phase(c tracker.Config, draws *des.Draws, began time.Duration) (outcome, error) {
	t, err := tracker.New(c)
	if err != nil {
		return outcome{}, err
	}
	h := &host{
		world: w, tracker: t, draws: draws, now: began, slot: map[[2]int]int{}, left: w.tasks,
		running: make([]*[2]int, w.slots), life: make([]uint32, w.slots),
	}
	h.offer()
	h.events.Push(began+worldInterval, hostLooks, 0, 0)
	for h.left > 0 {
		e, _ := h.events.Pop()
		h.now = e.At
		switch {
		case e.Kind() == hostLooks:
			h.look()
		case h.running[e.ID] == nil || h.life[e.ID] != e.Life: // killed before
			continue
		default:
			h.finish(*h.running[e.ID])
		}
		h.offer()
	}
	return outcome{wall: h.now - began, used: t.Ledger().Used}, nil
}

func (h *host) time() time.Time { return time.Unix(0, 0).Add(h.now) }

// machine returns what the tracker is told of a slot.
func (h *host) machine(slot int) int {
	if h.badSlots == 0 {
		return -1
	}
	return slot
}

// offer gives every free slot something to do, if there is something.
func (h *host) offer() {
	for slot := range h.running {
		for h.running[slot] == nil {
			a := h.tracker.Next(h.time(), h.machine(slot))
			if a.Action == restart.Keep {
				break
			}
			h.carryOut(a, slot)
		}
	}
}

// look asks about all that runs. What is worth a copy gets it by the next offer.
func (h *host) look() {
	var found []tracker.Answer
	h.tracker.Sweep(h.time(), func(a tracker.Answer) { found = append(found, a) })
	for _, a := range found {
		if a.Action == restart.Restart || a.Action == restart.Kill {
			h.carryOut(a, -1)
		}
	}
	h.events.Push(h.now+worldInterval, hostLooks, 0, 0)
}

func (h *host) carryOut(a tracker.Answer, slot int) {
	switch a.Action {
	case restart.Start, restart.Duplicate:
		h.start(a.Task, slot)
	case restart.Restart:
		h.free(a.Task, a.Attempt)
		h.tracker.Restart(h.time(), a.Task, a.Attempt)
	case restart.Kill:
		h.free(a.Task, a.Attempt)
		h.tracker.Kill(h.time(), a.Task, a.Attempt)
	}
}

func (h *host) start(task, slot int) {
	attempt := h.tracker.Start(h.time(), task, h.machine(slot))
	// The seed is mixed with the 0 first. With the task in its place small seeds would give the tasks one another's luck.
	luck := h.draws.For(0, uint64(task), uint64(attempt))
	takes := time.Duration((15 + 10*luck.Float64()) * float64(time.Second))
	if luck.Float64() < h.badLuck || slot < h.badSlots {
		takes *= 8
	}
	h.life[slot]++
	h.running[slot] = &[2]int{task, attempt}
	h.slot[[2]int{task, attempt}] = slot
	h.events.Push(h.now+takes, attemptEnds, int32(slot), h.life[slot])
}

func (h *host) finish(ended [2]int) {
	h.left--
	h.free(ended[0], ended[1])
	for _, other := range h.tracker.Finish(h.time(), ended[0], ended[1]) {
		h.free(ended[0], other)
	}
}

func (h *host) free(task, attempt int) {
	key := [2]int{task, attempt}
	h.running[h.slot[key]] = nil
	delete(h.slot, key)
}
