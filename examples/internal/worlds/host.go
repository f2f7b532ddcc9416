package worlds

import (
	"math"
	"slices"
	"time"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/tracker"
)

// Game describes how a world is simulated.
type Game struct {
	Model  Model
	Policy restart.Policy // nil: the library's default
	Record bool           // the host remembers its machines from phase to phase
	// ByHand replaces the tracker by a host that keeps the facts itself and calls restart.Decide.
	ByHand bool
	Good   bool // leave out the machines that are bad at some time
	Set    Set
	Seed   int
	// Watch is called for each answer that the host carries out; nil: no calls.
	Watch func(now time.Duration, a tracker.Answer)
}

// Outcome is the result of a simulation, in seconds. Time is the time until the last task has ended, and Slots the
// slot time. In a stream, Time is the mean time of
// a phase from its arrival to its last end, and Late the time that one of a hundred phases reaches; otherwise Late is
// 0. First is the number of intervals until the first copy starts; 0 if none starts.
type Outcome struct {
	Time, Late, Slots float64
	First             float64
}

// Run simulates a world to its end.
func (w *World) Run(g Game) (o Outcome, err error) {
	h := host{World: w, Game: g, luck: newLuck(g.Set, g.Seed), reports: newLuck(^g.Set, g.Seed)}
	for m := range w.machines() {
		if !g.Good || m >= w.bad() {
			for range w.slotsEach() {
				h.slots = append(h.slots, slot{machine: m})
			}
		}
	}
	h.stops = w.changes()
	slices.Sort(h.stops)
	var knows tracker.KnowledgeConfig
	if !g.Record {
		knows.Machines.MaxMachines = restart.Off
	}
	if h.knowledge, err = tracker.NewKnowledge(knows); err != nil {
		return o, err
	}
	if err := h.play(); err != nil {
		return o, err
	}
	o = Outcome{Time: h.now, Slots: h.used, First: h.first / w.interval()}
	if w.Load > 0 {
		o.Time, o.Late = h.responses()
	}
	return o, nil
}

// host is a scheduler and its cluster.
type host struct {
	*World
	Game
	luck, reports *luck
	knowledge     *tracker.Knowledge
	slots         []slot
	stops         []float64 // the instants at which a machine changes
	now, used     float64
	first         float64 // when the first copy started; 0 if none did

	jobs []*job    // running phases, in the order of their arrivals
	look float64   // when the host next polls all running attempts
	took []float64 // times of the phases that have ended, from their arrivals
}

// play starts each phase when the phase before it has ended, or, in a stream, at its time of arrival.
func (h *host) play() error {
	h.look = h.interval()
	arrives := 0.0
	for phase := range h.phases() {
		if h.Load > 0 {
			arrives += h.luck.of(ofPhase, uint64(phase), 2).ExpFloat64() * h.gap()
		} else {
			arrives = math.Inf(1)
		}
		for len(h.jobs) > 0 && h.now < arrives {
			h.step(arrives)
		}
		if h.Load > 0 {
			h.now = arrives
		}
		if err := h.open(phase); err != nil {
			return err
		}
	}
	for len(h.jobs) > 0 {
		h.step(math.Inf(1))
	}
	return nil
}

func (h *host) time() time.Time {
	return time.Unix(0, 0).Add(time.Duration(math.Round(h.now * 1e9)))
}

// step goes to the next event, but not beyond the instant until.
func (h *host) step(until float64) {
	next := min(h.look, until)
	for _, at := range h.stops {
		if at > h.now {
			next = min(next, at)
			break
		}
	}
	at := -1
	for i := range h.slots {
		if s := &h.slots[i]; s.runs && s.due() < next {
			next, at = s.due(), i
		}
	}
	h.now = next
	if at >= 0 {
		h.happens(&h.slots[at])
		h.fill()
		return
	}
	if slices.Contains(h.stops, h.now) {
		h.change()
	}
	if h.now == h.look {
		h.look += h.interval()
		for _, j := range h.jobs {
			h.share(j)
			j.tracker.Sweep(h.time(), func(a tracker.Answer) { h.carryOut(j, a) })
		}
	}
	h.fill()
}

// carryOut kills the attempt of an answer. Copies get their slots in fill.
func (h *host) carryOut(j *job, a tracker.Answer) {
	if a.Action != restart.Restart && a.Action != restart.Kill {
		return
	}
	if h.Watch != nil {
		h.Watch(time.Duration(h.now*1e9), a)
	}
	h.free(h.find(j, a.Task, a.Attempt))
	if a.Action == restart.Restart {
		j.tracker.Restart(h.time(), a.Task, a.Attempt)
	} else {
		j.tracker.Kill(h.time(), a.Task, a.Attempt)
	}
}

// fill offers every idle slot to the phases: first to phases with waiting tasks, in the order of their arrivals.
func (h *host) fill() {
	if h.Asks == EachTime {
		h.shuffle(ofPhase, math.Float64bits(h.now), 4)
	}
	for i := range h.slots {
		s := &h.slots[i]
		if s.dead || s.runs {
			continue // the facts of a phase, below, cost a quarter of the simulation otherwise
		}
		for _, waits := range [...]bool{true, false} {
			for _, j := range h.jobs {
				if (j.tracker.Phase().Waiting > 0) == waits {
					h.offer(s, j)
				}
			}
		}
	}
}

// shuffle puts the slots into an order that depends on the numbers.
func (h *host) shuffle(numbers ...uint64) {
	h.luck.of(numbers...).Shuffle(len(h.slots), func(i, j int) {
		h.slots[i], h.slots[j] = h.slots[j], h.slots[i]
	})
}

// offer offers an idle slot to a phase.
func (h *host) offer(s *slot, j *job) {
	for !s.dead && !s.runs && j.left > 0 {
		h.share(j)
		a := j.tracker.Next(h.time(), s.machine)
		if a.Action == restart.Keep {
			break
		}
		if h.carryOut(j, a); a.Action == restart.Start || a.Action == restart.Copy {
			h.start(s, j, a)
		}
	}
}

// change handles the instant at which a machine becomes slower or faster, dies or returns.
func (h *host) change() {
	alive := 0
	for i := range h.slots {
		s := &h.slots[i]
		if dead := h.dead(s.machine, h.now); dead != s.dead {
			if s.dead = dead; dead {
				for _, j := range h.jobs {
					j.tracker.LoseMachine(h.time(), s.machine)
				}
				if s.runs {
					h.free(s)
				}
			}
		}
		if s.runs {
			h.rates(s.job, s.task)
		}
		if !s.dead {
			alive++
		}
	}
	for _, j := range h.jobs {
		if h.Load == 0 && j.slots != alive {
			j.slots = alive
			j.tracker.SetSlots(alive)
		}
	}
}
