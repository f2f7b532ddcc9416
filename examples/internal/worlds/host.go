package worlds

import (
	"math"
	"slices"
	"time"

	"github.com/straggler-go/straggler/estimate/machines"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/tracker"
)

// Game is how a world is played.
type Game struct {
	Model  Model
	Policy restart.Policy // nil: the library's default
	Record bool           // the host keeps a record of its machines
	Good   bool           // only the machines that are never bad are there
	Set    Set
	Seed   int
	// Watch is called for each answer that the host carries out, if it is not nil.
	Watch func(now time.Duration, a tracker.Answer)
}

// Outcome is what a world took, in seconds: until its last task ended, of all slots, and launches beyond the first of
// each task. In a stream Time is how long a phase took in the mean from its arrival until its last task ended, and Late
// what one in a hundred took or more; both are 0 otherwise, as Late is.
type Outcome struct {
	Time, Late, Slots float64
	Extra             int
}

// Run plays a world to its end.
func (w *World) Run(g Game) (o Outcome, err error) {
	h := host{World: w, Game: g, luck: newLuck(g.Set, g.Seed), reports: newLuck(^g.Set, g.Seed)}
	for m := range w.machines() {
		if !g.Good || m >= w.bad() {
			h.slots = append(h.slots, slot{machine: m})
		}
	}
	h.stops = w.changes()
	slices.Sort(h.stops)
	if g.Record {
		if h.record, err = machines.New(machines.Config{}); err != nil {
			return o, err
		}
	}
	if err := h.play(); err != nil {
		return o, err
	}
	o = Outcome{Time: h.now, Slots: h.used, Extra: h.extra}
	if w.Load > 0 {
		o.Time, o.Late = h.responses()
	}
	return o, nil
}

// host is a scheduler, and the cluster under it.
type host struct {
	*World
	Game
	luck, reports *luck
	kind          tracker.Experience
	record        *machines.Record
	slots         []slot
	stops         []float64 // at which a machine changes
	now, used     float64
	extra         int

	jobs []*job    // that are there, by when they arrived
	look float64   // when the host looks at all that runs
	took []float64 // of the phases that have ended, from their arrivals on
}

// job is a phase under way.
type job struct {
	number  int
	arrived float64
	tracker *tracker.Tracker
	tasks   []state
	left    int // tasks that have not ended
	slots   int // as the tracker was told
}

// state is a task under way.
type state struct {
	task
	copies int
	saved  float64 // the share of it that a checkpoint holds
}

// slot is a machine, and what runs there.
type slot struct {
	machine int
	dead    bool
	runs    bool
	job     *job
	task    int
	attempt int
	fate    fate
	begins  float64 // when it is there; it has begun if that is over
	begun   bool
	since   float64 // when done was brought up to date
	done    float64 // seconds of its work, as on a usual machine
	whole   float64 // how many there are
	found   float64 // the share of the task that it resumed from
	rate    float64 // seconds of work per second
	reports float64 // when it reports next
	ends    float64
}

// play lets the phases come, each when the one before it has ended, or, in a stream, at instants of its own.
func (h *host) play() error {
	h.look = Interval
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

// open lets a phase arrive.
func (h *host) open(number int) error {
	n := h.size(h.luck, number)
	j := &job{number: number, arrived: h.now, left: n, tasks: make([]state, n), slots: len(h.slots)}
	c := tracker.Config{
		Tasks: n, Slots: len(h.slots), Machines: len(h.slots), Interval: Interval * time.Second, Policy: h.Policy,
		Stream: h.Load > 0,
	}
	if h.Phases > 1 {
		c.Experience = &h.kind
	}
	if h.record != nil {
		c.Record = h.record
		if h.Classes {
			for m := range h.machines() {
				h.record.SetClass(m, min(m/(h.machines()-h.Fast), 1))
			}
		}
	}
	for i := range j.tasks {
		j.tasks[i].task = h.task(h.luck, number, i)
		if h.Known {
			c.Work = append(c.Work, j.tasks[i].seconds)
		}
	}
	if h.Paths {
		c.Path = func(task, machine int) float64 { return h.way(&j.tasks[task].task, machine) }
	}
	t, err := tracker.New(c)
	if err != nil {
		return err
	}
	// Which machine a host thinks of first has nothing to do with how good it is.
	h.luck.of(ofPhase, uint64(number), 1).Shuffle(len(h.slots), func(i, j int) {
		h.slots[i], h.slots[j] = h.slots[j], h.slots[i]
	})
	j.tracker = t
	if len(h.jobs) == 0 {
		h.look = h.now + Interval
	}
	h.jobs = append(h.jobs, j)
	h.change()
	h.fill()
	return nil
}

// close ends a phase whose tasks have all ended.
func (h *host) close(j *job) {
	j.tracker.Close(h.time())
	h.took = append(h.took, h.now-j.arrived)
	h.jobs = slices.DeleteFunc(h.jobs, func(other *job) bool { return other == j })
}

// responses returns how long a phase took in the mean, and what one in a hundred took or more.
func (h *host) responses() (mean, late float64) {
	slices.Sort(h.took)
	for _, took := range h.took {
		mean += took / float64(len(h.took))
	}
	return mean, h.took[len(h.took)*99/100]
}

// way is what the host tells of the way to a task's data: for no machine, that from the best one.
func (h *host) way(t *task, machine int) float64 {
	if machine < 0 {
		return h.path(t, 1-t.half)
	}
	return h.path(t, machine)
}

func (h *host) time() time.Time {
	return time.Unix(0, 0).Add(time.Duration(math.Round(h.now * 1e9)))
}

// step goes to the next thing that happens, or to an instant before it.
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
		h.look += Interval
		for _, j := range h.jobs {
			h.share(j)
			j.tracker.Sweep(h.time(), func(a tracker.Answer) { h.carryOut(j, a) })
		}
	}
	h.fill()
}

// due is when something happens to what runs on a slot.
func (s *slot) due() float64 {
	if !s.begun {
		return s.begins
	}
	return min(s.ends, s.reports)
}

// happens lets the attempt on a slot begin, end, or report.
func (h *host) happens(s *slot) {
	switch {
	case !s.begun:
		s.begun, s.since, s.reports = true, h.now, h.now+Interval
		s.job.tracker.Begin(h.time(), s.task, s.attempt, s.machine)
		h.rates(s.job, s.task)
	case h.now < s.ends:
		s.reports += Interval
		h.settle(s)
		h.report(s)
	case s.fate.hangs <= 1:
		s.job.tracker.Fail(h.time(), s.task, s.attempt)
		h.free(s)
	default:
		j, task := s.job, s.task
		overtaken := j.tracker.Finish(h.time(), task, s.attempt)
		h.free(s)
		for _, attempt := range overtaken {
			h.free(h.find(j, task, attempt))
		}
		if j.left--; j.left == 0 {
			h.close(j)
		}
	}
}

// report tells what a copy shows, and saves what it has done.
func (h *host) report(s *slot) {
	share := s.done / s.whole
	if s.fate.hangs <= 1 {
		share = min(share, s.fate.hangs)
	}
	t := &s.job.tasks[s.task]
	if h.Checkpoint > 0 {
		whole := s.found + share*(1-s.found)
		t.saved = max(t.saved, h.Checkpoint*math.Floor(whole/h.Checkpoint))
	}
	if h.Model == None {
		return
	}
	h.reports.of(uint64(s.job.number), uint64(s.task), uint64(s.attempt), math.Float64bits(h.now))
	shown := s.found + s.fate.curve.shows(share, h.reports)*(1-s.found)
	work := 1.0
	if h.Known {
		work = t.seconds
	}
	r := tracker.Report{Done: shown * work, Saved: t.saved * work}
	h.share(s.job)
	h.carryOut(s.job, s.job.tracker.Report(h.time(), s.task, s.attempt, r))
}

// share tells a phase how many slots it may use: those that it has, and those that are idle and nobody waits for.
func (h *host) share(j *job) {
	if h.Load == 0 {
		return
	}
	slots := 0
	for i := range h.slots {
		if s := &h.slots[i]; !s.dead && (!s.runs || s.job == j) {
			slots++
		}
	}
	if slots != j.slots {
		j.slots = slots
		j.tracker.SetSlots(slots)
	}
}

// carryOut kills what is to be killed. Copies get their slots by fill.
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

// fill gives every idle slot something to do, if there is something: first to phases whose tasks wait, as they arrived.
func (h *host) fill() {
	for i := range h.slots {
		s := &h.slots[i]
		for _, waits := range [...]bool{true, false} {
			for _, j := range h.jobs {
				if (j.tracker.Phase().Waiting > 0) == waits {
					h.offer(s, j)
				}
			}
		}
	}
}

// offer offers an idle slot to a phase.
func (h *host) offer(s *slot, j *job) {
	for !s.dead && !s.runs && j.left > 0 {
		h.share(j)
		a := j.tracker.Next(h.time(), s.machine)
		if a.Action == restart.Keep {
			break
		}
		if h.carryOut(j, a); a.Action == restart.Start || a.Action == restart.Duplicate {
			h.start(s, j, a)
		}
	}
}

func (h *host) start(s *slot, j *job, a tracker.Answer) {
	if h.Watch != nil {
		h.Watch(time.Duration(h.now*1e9), a)
	}
	t := &j.tasks[a.Task]
	attempt := 0
	if h.Lag > 0 {
		attempt = j.tracker.Submit(h.time(), a.Task, s.machine)
	} else {
		attempt = j.tracker.Start(h.time(), a.Task, s.machine)
	}
	if attempt > 0 {
		h.extra++
	}
	*s = slot{
		machine: s.machine, runs: true, job: j, task: a.Task, attempt: attempt, begun: h.Lag == 0, begins: h.now + h.Lag,
		since: h.now, reports: h.now + Interval, found: t.saved, fate: h.fate(h.luck, h.Model, j.number, a.Task, attempt),
	}
	s.whole = (t.seconds + s.fate.more) * (1 - t.saved)
	t.copies++
	h.rates(j, a.Task)
}

// free takes what runs off a slot.
func (h *host) free(s *slot) {
	h.settle(s)
	h.used += h.now - s.begins + h.Lag
	s.runs = false
	s.job.tasks[s.task].copies--
	h.rates(s.job, s.task)
}

func (h *host) find(j *job, task, attempt int) *slot {
	for i := range h.slots {
		if s := &h.slots[i]; s.runs && s.job == j && s.task == task && s.attempt == attempt {
			return s
		}
	}
	panic("an answer about an attempt that does not run")
}

// settle brings what has been done on a slot up to date.
func (h *host) settle(s *slot) {
	if s.begun {
		s.done, s.since = s.done+(h.now-s.since)*s.rate, h.now
	}
}

// rates finds out how fast the copies of a task run from now on, and when they end.
func (h *host) rates(j *job, task int) {
	t := &j.tasks[task]
	for i := range h.slots {
		s := &h.slots[i]
		if !s.runs || s.job != j || s.task != task {
			continue
		}
		h.settle(s)
		takes := h.factor(s.machine, h.now) * h.path(&t.task, s.machine) * s.fate.slow
		s.rate = 1 / (takes * (1 + h.Interference*float64(t.copies-1)))
		s.ends = h.now + (s.whole-s.done)/s.rate
		if s.fate.hangs <= 1 {
			s.ends = s.begins + or(h.Timeout, 1500)
		}
	}
}

// change is what happens where a machine becomes slower or faster, dies or returns.
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
