package restart_test

import (
	"math"
	"slices"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"
)

// oracle is a Tracker that keeps every event and nothing else: each fact is worked out anew from the history, by the
// words of its definition. What it shares with the Tracker is package estimate's model of one copy's remaining time.
type oracle struct {
	config restart.Config // as the tracker gives it back, with defaults
	work   []float64
	epoch  time.Time
	now    time.Duration
	tasks  []oracleTask
	ended  []*oracleCopy // in the order of their ends
	saved  time.Duration
	bad    int // what made no sense
}

type oracleTask struct {
	copies    []*oracleCopy // all attempts, in order
	finished  bool
	restarts  int
	sinceCopy time.Duration // instant of the last launch beside another copy, or kill of one of several; -1: never
	expected  time.Duration // instant at which the original would have ended; -1: not known or still open
	noDup     bool
	noRestart bool
	candidate bool
	machines  []int // that it was submitted for, or began on, in the order of those events
}

type oracleCopy struct {
	task, attempt, machine int
	start, end             time.Duration
	begun                  bool // and start says when
	original, firstWave    bool
	reports                []oracleReport
	fate                   string // "" while it runs
}

type oracleReport struct {
	at time.Duration
	p  restart.Progress
}

func newOracle(t *restart.Tracker, work []float64) *oracle {
	o := &oracle{config: t.Config(), work: work, tasks: make([]oracleTask, len(work))}
	for i := range o.tasks {
		o.tasks[i].sinceCopy, o.tasks[i].expected = -1, -1
	}
	return o
}

// tick takes the time: that since the first event, which never falls.
func (o *oracle) tick(now time.Time) {
	if o.epoch.IsZero() {
		o.epoch = now
	}
	o.now = max(o.now, now.Sub(o.epoch))
}

// running lists a task's copies that run or are queued by the engine, the newest first.
func (o *oracle) running(task int) (copies []*oracleCopy) {
	for _, c := range slices.Backward(o.tasks[task].copies) {
		if c.fate == "" {
			copies = append(copies, c)
		}
	}
	return copies
}

// runs reports whether a copy of the task has begun, among those that have not ended.
func (o *oracle) runs(task int) bool {
	return slices.ContainsFunc(o.running(task), func(c *oracleCopy) bool { return c.begun })
}

func (o *oracle) find(task, attempt int) *oracleCopy {
	if task < 0 || task >= len(o.tasks) || attempt < 0 || attempt >= len(o.tasks[task].copies) ||
		o.tasks[task].copies[attempt].fate != "" {
		o.bad++
		return nil
	}
	return o.tasks[task].copies[attempt]
}

func (o *oracle) start(now time.Time, task, machine int) int {
	attempt := o.submit(now, task, machine)
	if attempt >= 0 {
		o.begin(now, task, attempt, -1)
	}
	return attempt
}

func (o *oracle) begin(now time.Time, task, attempt, machine int) {
	o.tick(now)
	c := o.find(task, attempt)
	if c == nil {
		return
	}
	if c.begun {
		o.bad++
		return
	}
	if machine >= 0 {
		c.machine = machine
	}
	everRan := 0
	for i := range o.tasks {
		if slices.ContainsFunc(o.tasks[i].copies, func(c *oracleCopy) bool { return c.begun }) {
			everRan++
		}
	}
	c.begun, c.start, c.firstWave = true, o.now, c.original && everRan < o.config.Slots
	o.tasks[task].machines = append(o.tasks[task].machines, c.machine)
}

func (o *oracle) submit(now time.Time, task, machine int) int {
	o.tick(now)
	if task < 0 || task >= len(o.tasks) || o.tasks[task].finished {
		o.bad++
		return -1
	}
	s := &o.tasks[task]
	c := &oracleCopy{task: task, attempt: len(s.copies), machine: max(machine, -1)}
	if len(o.running(task)) == 0 {
		c.original = true
	} else {
		s.sinceCopy = o.now
		s.candidate = false
	}
	s.copies = append(s.copies, c)
	s.machines = append(s.machines, c.machine)
	return c.attempt
}

func (o *oracle) report(now time.Time, task, attempt int, p restart.Progress) bool {
	o.tick(now)
	c := o.find(task, attempt)
	if c == nil {
		return false
	}
	if !c.begun {
		o.begin(now, task, attempt, -1)
	}
	if !(p.Done >= 0 && p.Score >= 0) || math.IsInf(p.Done, 0) || math.IsInf(p.Score, 0) {
		o.bad++
		return true
	}
	c.reports = append(c.reports, oracleReport{o.now, p})
	return true
}

func (o *oracle) end(c *oracleCopy, fate string) {
	c.end, c.fate = o.now, fate
	o.ended = append(o.ended, c)
	if !o.runs(c.task) {
		o.tasks[c.task].candidate = false
	}
}

func (o *oracle) finish(now time.Time, task, attempt int) (killed []int) {
	o.tick(now)
	c := o.find(task, attempt)
	if c == nil {
		return nil
	}
	s := &o.tasks[task]
	for _, other := range o.running(task) {
		if other != c {
			o.expect(other)
			killed = append(killed, other.attempt)
		}
	}
	if s.expected >= 0 {
		o.saved += s.expected - o.now
	}
	s.expected = -1
	for _, a := range killed {
		o.end(s.copies[a], "overtaken")
	}
	s.finished = true
	o.end(c, "finished")
	return killed
}

// expect notes the end that is foregone with an original copy.
func (o *oracle) expect(c *oracleCopy) {
	s := &o.tasks[c.task]
	if left := o.remaining(c); c.original && s.expected < 0 && left != estimate.Unknown {
		s.expected = o.now + left
	}
}

func (o *oracle) kill(now time.Time, task, attempt int, fate string) {
	o.tick(now)
	c := o.find(task, attempt)
	if c == nil {
		return
	}
	s := &o.tasks[task]
	several := len(o.running(task)) > 1
	if fate == "restarted" || fate == "killed" && several {
		o.expect(c)
	}
	if several && fate != "failed" {
		s.sinceCopy = o.now
	}
	if fate == "restarted" {
		s.restarts++
	}
	o.end(c, fate)
}

func (o *oracle) loseMachine(now time.Time, machine int) (waiting []int) {
	o.tick(now)
	if machine < 0 {
		return nil
	}
	for task := range o.tasks {
		ran := false
		for _, c := range o.running(task) {
			if c.machine == machine {
				o.end(c, "failed")
				ran = true
			}
		}
		if ran && len(o.running(task)) == 0 {
			waiting = append(waiting, task)
		}
	}
	return waiting
}

func (o *oracle) loseOutput(now time.Time, task int) {
	o.tick(now)
	if task < 0 || task >= len(o.tasks) || !o.tasks[task].finished {
		o.bad++
		return
	}
	o.tasks[task].finished = false
}

// task is the view of a running task, its copies newest first. Its t_new rests on rates, whose samples were compared.
func (o *oracle) task(task int, rates *estimate.Rates) restart.Task {
	s := &o.tasks[task]
	t := restart.Task{
		Restarts: s.restarts, NoDuplicate: s.noDup, NoRestart: s.noRestart,
		Work: o.work[task], Fresh: estimate.Fresh{Work: rates.Work(o.work[task]), Lag: o.config.Lag},
	}
	if rates.Known() {
		t.Fresh.Rate = o.others(task, rates)
	}
	if s.sinceCopy >= 0 {
		t.SinceCopy = max(o.now-s.sinceCopy, 1)
	}
	for _, c := range o.running(task) {
		t.Copies = append(t.Copies, restart.Copy{
			Machine: c.machine, Elapsed: o.age(c), Remaining: o.remaining(c), Score: o.score(c), Done: o.done(c),
		})
	}
	t.Tried = o.tried(task)
	return t
}

// tried lists the last four machines that the task was submitted for or began on, the latest first, each once.
func (o *oracle) tried(task int) (machines []int) {
	for _, m := range slices.Backward(o.tasks[task].machines) {
		if m >= 0 && !slices.Contains(machines, m) && len(machines) < 4 {
			machines = append(machines, m)
		}
	}
	return machines
}

// firstWaiting is the waiting task with the most work that was not tried on the machine, if there is one among the first
// eight; else the first.
func (o *oracle) firstWaiting(machine int) int {
	var waiting []int
	for i := range o.tasks {
		if !o.tasks[i].finished && len(o.running(i)) == 0 {
			waiting = append(waiting, i)
		}
	}
	slices.SortStableFunc(waiting, func(a, b int) int {
		switch {
		case o.work[a] > o.work[b]:
			return -1
		case o.work[a] < o.work[b]:
			return 1
		}
		return 0
	})
	for _, i := range waiting[:min(8, len(waiting))] {
		if machine < 0 || !slices.Contains(o.tried(i), machine) {
			return i
		}
	}
	if len(waiting) > 0 {
		return waiting[0]
	}
	return -1
}
