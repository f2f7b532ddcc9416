package tracker_test

import (
	"math"
	"slices"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/clock"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/tracker"
)

// oracle is a Tracker that keeps every event and nothing else. It computes each fact from the whole history, by the
// fact's definition. It shares with the Tracker only package estimate's model of the remaining time of one attempt.
type oracle struct {
	config   tracker.Config // as the tracker returns it, with defaults
	work     []float64
	clock    clock.Clock
	now      time.Duration
	tasks    []oracleTask
	ended    []*oracleAttempt    // in the order of their ends
	rates    *estimate.UnitTimes // fed as its documentation says
	machines []int               // machines, in the order of their appearance
	delays   []time.Duration     // from submit to begin, for attempts that had a slot
	bad      int                 // events that made no sense
	late     int                 // successes of attempts that had ended
	units    int                 // reports of more work than there is
	shown    int                 // attempts that finished and had shown progress late
	small    int                 // attempts of these that showed too little progress
	tiny     bool                // progress is not believed, because its unit is too small
	spoke    bool                // an attempt has shown progress that is believed
}

type oracleTask struct {
	attempts  []*oracleAttempt // all attempts, in order
	finished  bool
	lost      int // number of attempts when the output was lost
	copies    int
	restarts  int
	killed    int           // sample of the attempt that was killed last
	saved     float64       // work that a checkpoint holds
	sinceCopy time.Duration // instant of the last launch of a copy, or kill of one of several attempts; -1: never
	noCopy    bool
	noRestart bool
	candidate bool
	machines  []int // machines that its attempts were submitted for, or began on, in the order of these events
}

type oracleAttempt struct {
	task, attempt, machine int
	start, end             time.Duration
	submitted              time.Duration
	hadSlot                bool // when it was submitted
	starts                 bool // it was started, not submitted
	begun                  bool // it has begun, at start
	original, firstWave    bool
	resumed                float64 // work of the checkpoint at its begin; 0 if its first report shows less
	reports                []oracleReport
	sample                 int
	implied                float32 // seconds that its sample implies
	fate                   string  // "" while it runs
}

type oracleReport struct {
	at   time.Duration
	p    tracker.Report
	done float64 // of the work that it had to do
}

func newOracle(t *tracker.Tracker, work []float64) *oracle {
	o := &oracle{config: t.Config(), work: work, tasks: make([]oracleTask, len(work))}
	o.rates, _ = estimate.NewUnitTimes(o.config.UnitTimes)
	for i := range o.tasks {
		o.tasks[i].sinceCopy, o.tasks[i].killed = -1, estimate.NoSample
	}
	return o
}

// tick sets the time, by the rule of package clock.
func (o *oracle) tick(now time.Time) { o.now = o.clock.At(now) }

// running lists a task's attempts that run or wait in the engine's queue, newest first.
func (o *oracle) running(task int) (attempts []*oracleAttempt) {
	for _, c := range slices.Backward(o.tasks[task].attempts) {
		if c.fate == "" {
			attempts = append(attempts, c)
		}
	}
	return attempts
}

// runs reports whether a running attempt of the task has begun.
func (o *oracle) runs(task int) bool {
	return slices.ContainsFunc(o.running(task), func(c *oracleAttempt) bool { return c.begun })
}

func (o *oracle) find(task, attempt int) *oracleAttempt {
	if task < 0 || task >= len(o.tasks) || attempt < 0 || attempt >= len(o.tasks[task].attempts) ||
		o.tasks[task].attempts[attempt].fate != "" {
		o.bad++
		return nil
	}
	return o.tasks[task].attempts[attempt]
}

func (o *oracle) start(now time.Time, task, machine int) int {
	attempt := o.submit(now, task, machine)
	if attempt >= 0 {
		o.tasks[task].attempts[attempt].starts = true
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
		o.see(machine)
	}
	if c.hadSlot && !c.starts {
		o.delays = append(o.delays, o.now-c.submitted)
	}
	everRan := 0
	for i := range o.tasks {
		if slices.ContainsFunc(o.tasks[i].attempts, func(c *oracleAttempt) bool { return c.begun }) {
			everRan++
		}
	}
	c.begun, c.start, c.firstWave = true, o.now, c.original && everRan < o.config.Slots
	c.resumed = o.tasks[task].saved
	o.tasks[task].machines = append(o.tasks[task].machines, c.machine)
}

func (o *oracle) submit(now time.Time, task, machine int) int {
	o.tick(now)
	if task < 0 || task >= len(o.tasks) || o.tasks[task].finished {
		o.bad++
		return -1
	}
	s := &o.tasks[task]
	c := &oracleAttempt{task: task, attempt: len(s.attempts), machine: max(machine, -1), submitted: o.now, sample: estimate.NoSample}
	o.see(c.machine)
	all := 0
	for i := range o.tasks {
		all += len(o.running(i))
	}
	c.hadSlot = all < o.config.Slots
	if len(o.running(task)) == 0 {
		c.original = true
	} else {
		s.sinceCopy = o.now
		s.candidate = false
		s.copies++
	}
	s.attempts = append(s.attempts, c)
	s.machines = append(s.machines, c.machine)
	return c.attempt
}

func (o *oracle) report(now time.Time, task, attempt int, p tracker.Report) bool {
	o.tick(now)
	c := o.find(task, attempt)
	if c == nil {
		return false
	}
	if !c.begun {
		c.starts = true // the time of its begin is not known
		o.begin(now, task, attempt, -1)
	}
	if !(p.Done >= 0 && p.Score >= 0 && p.Saved >= 0) || p.Remaining < 0 || math.IsInf(p.Done, 0) || math.IsInf(p.Score, 0) || math.IsInf(p.Saved, 0) {
		o.bad++
		return true
	}
	r := oracleReport{at: o.now, p: p}
	if shows := o.shows(c, r); !o.odd(c, r) && shows > 0 && 1.01*shows < c.resumed && o.done(c) == 0 {
		c.resumed = 0
	}
	if p.Saved > 0 && !o.odd(c, r) {
		step := o.work[task] / (1 << 16) // the tracker stores the saved work in steps of this size
		o.tasks[task].saved = math.Floor(min(p.Saved/step, 1023*64)) * step
	}
	r.done = o.doneIn(c, r)
	o.spoke = o.spoke || r.done > 0 && !o.tiny
	if c.reports = append(c.reports, r); o.odd(c, r) {
		o.units++
	} else if o.done(c) > 0 && o.age(c) >= o.config.Interval && !o.tiny {
		implied := o.age(c).Seconds() / min(o.done(c)/o.left(c), 1)
		if c.sample == estimate.NoSample || math.Abs(implied-float64(c.implied)) > implied/64 {
			c.implied = float32(implied)
			c.sample = o.rates.Running(c.sample, o.run(c))
		}
	}
	return true
}

func (o *oracle) end(c *oracleAttempt, fate string) {
	c.end, c.fate = o.now, fate
	o.ended = append(o.ended, c)
	if !o.runs(c.task) {
		o.tasks[c.task].candidate = false
	}
}

func (o *oracle) finish(now time.Time, task, attempt int) (killed []int) {
	o.tick(now)
	late := false
	if task >= 0 && task < len(o.tasks) && attempt >= 0 && attempt < len(o.tasks[task].attempts) {
		late = !o.tasks[task].finished && o.tasks[task].attempts[attempt].fate != "" && attempt >= o.tasks[task].lost
	}
	var c *oracleAttempt
	if !late {
		if c = o.find(task, attempt); c == nil {
			return nil
		}
	}
	s := &o.tasks[task]
	for _, other := range o.running(task) {
		if other != c {
			killed = append(killed, other.attempt)
		}
	}
	for _, a := range killed {
		o.learnKilled(s.attempts[a])
		o.end(s.attempts[a], "overtaken")
	}
	s.finished, s.candidate = true, false
	if late {
		o.late++
		return killed
	}
	o.end(c, "finished")
	if c.begun {
		o.weigh(c)
	}
	if r := o.run(c); c.begun {
		r.Done, r.FirstWave = r.Work, c.firstWave
		o.repeat(s, r)
		o.rates.Finish(c.sample, r)
	}
	return killed
}

// weigh counts a finished attempt by the progress that it had shown when three quarters of its time had passed.
func (o *oracle) weigh(c *oracleAttempt) {
	n := len(c.reports)
	if n == 0 || o.odd(c, c.reports[n-1]) || o.done(c) <= 0 {
		return
	}
	if at := c.reports[n-1].at - c.start; at < o.age(c)/4*3 || at < 3*o.config.Interval {
		return
	}
	if o.shown++; o.done(c)*12 < o.left(c) {
		o.small++
	}
	if o.tiny {
		o.tiny = o.small > o.shown/4
		return
	}
	if o.tiny = o.small >= 3 && o.small > o.shown/2; !o.tiny {
		return
	}
	o.spoke = false
	for i := range o.tasks {
		for _, other := range o.running(i) {
			o.rates.Drop(other.sample)
			other.sample = estimate.NoSample
		}
		o.rates.Drop(o.tasks[i].killed)
		o.tasks[i].killed = estimate.NoSample
	}
}

// clones counts the running attempts of a task that are no copies; here at most its very first attempt.
func (o *oracle) clones(task int) (n int) {
	for _, c := range o.running(task) {
		if c.attempt == 0 {
			n++
		}
	}
	return n
}

// run returns the estimate.Run of an attempt.
func (o *oracle) run(c *oracleAttempt) estimate.Run {
	r := estimate.Run{Age: o.age(c), Work: o.left(c), Done: o.done(c), Machine: c.machine}
	if n := len(c.reports); n > 0 && o.odd(c, c.reports[n-1]) {
		r.Done = 0
	}
	return r
}

// learnKilled adds the sample of a killed attempt. An attempt that ran for less than an interval gives no sample.
func (o *oracle) learnKilled(c *oracleAttempt) {
	s := &o.tasks[c.task]
	switch {
	case !c.begun:
	case o.age(c) < o.config.Interval:
		o.rates.Drop(c.sample)
	default:
		r := o.run(c)
		if o.tiny {
			r.Done = 0
		}
		if n := len(c.reports); n > 0 && r.Done > 0 { // the attempt may have gone on after its last report
			if at := c.reports[n-1].at - c.start; at > 0 {
				if at.Seconds()*r.Work < r.Age.Seconds()*r.Done {
					r.Done = r.Work
				} else {
					r.Age = at
				}
			}
		}
		o.repeat(s, r)
		s.killed = o.rates.Kill(c.sample, r)
	}
}

// repeat drops the sample of the attempt that was killed last, if another attempt shows that the task is long.
func (o *oracle) repeat(s *oracleTask, r estimate.Run) {
	if o.rates.Repeat(s.killed, r) {
		s.killed = estimate.NoSample
	}
}

// see records that a machine appeared.
func (o *oracle) see(machine int) {
	if machine >= 0 && !slices.Contains(o.machines, machine) {
		o.machines = append(o.machines, machine)
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
	if several && fate != "failed" {
		s.sinceCopy = o.now
	}
	if fate == "restarted" || several && fate == "killed" && o.oldest(task) == attempt {
		s.restarts++
	}
	if fate == "failed" {
		o.rates.Drop(c.sample)
	} else {
		o.learnKilled(c)
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
				o.rates.Drop(c.sample)
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
	o.tasks[task].lost = len(o.tasks[task].attempts)
}

// task returns the facts of a running task, newest attempt first.
func (o *oracle) task(task int) restart.Task {
	s := &o.tasks[task]
	t := restart.Task{
		Clones: o.clones(task), Restarts: s.restarts, Copies: s.copies, NoCopy: s.noCopy, NoRestart: s.noRestart,
		Work: o.work[task], Fresh: estimate.Fresh{Work: o.rates.Work(o.work[task] - s.saved), Lag: o.lag()},
	}
	for i, c := range o.running(task) {
		if t.Work = max(t.Work, o.left(c)); i == 0 {
			t.Work = o.left(c)
		}
	}
	if o.rates.Known() {
		var own []int
		for _, c := range o.running(task) {
			own = append(own, c.sample)
		}
		peers := new(estimate.PeerTimes)
		o.rates.Peers(peers, own...)
		t.Fresh.UnitTime = peers
	}
	if s.sinceCopy >= 0 {
		t.SinceCopy = max(o.now-s.sinceCopy, 1)
	}
	for _, c := range o.running(task) {
		t.Attempts = append(t.Attempts, restart.Attempt{
			Machine: c.machine, Elapsed: o.age(c), Remaining: o.remaining(c), Score: o.score(c), Done: o.done(c),
			Resumed: c.resumed,
		})
	}
	for i, c := range o.running(task) {
		if n := len(c.reports); n > 0 && o.odd(c, c.reports[n-1]) {
			t.Attempts[i].Score = math.NaN()
		}
	}
	t.PastMachines = o.tried(task)
	return t
}

// tried lists the last four machines that the task was submitted for or began on, latest first, each once.
func (o *oracle) tried(task int) (machines []int) {
	for _, m := range slices.Backward(o.tasks[task].machines) {
		if m >= 0 && !slices.Contains(machines, m) && len(machines) < 4 {
			machines = append(machines, m)
		}
	}
	return machines
}

// firstWaiting returns the waiting task with the most work that was not tried on the machine, among the first eight
// waiting tasks; otherwise the first.
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

// oldest returns the attempt of a task that has run longest.
func (o *oracle) oldest(task int) int {
	oldest := o.running(task)[0]
	for _, c := range o.running(task) {
		if o.age(c) >= o.age(oldest) {
			oldest = c
		}
	}
	return oldest.attempt
}
