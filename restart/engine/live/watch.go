package live

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/straggler-go/straggler/estimate/causes"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine/shadow"
	"github.com/straggler-go/straggler/restart/tracker"
)

// Watch hears the events of a phase. It is safe for concurrent use.
type Watch struct {
	name  string
	names Names

	mu       sync.Mutex
	running  map[key]*attempt
	tasks    map[int]bool             // tasks that have ended
	said     map[int]restart.Decision // by task: the policy's last decision
	times    ring                     // run times per work of attempts that ended their task
	machines map[int]*ring
	step     step
	waits    *waits // of all phases of the name
	began    time.Time
	closed   bool
	report   bool // an attempt has reported its progress
	bill     shadow.Bill
	ledger   tracker.Ledger
	// hasLedger says that the host has set the ledger. Otherwise the watch counts copies and restarts itself.
	hasLedger bool
}

type key struct{ task, attempt int }

// attempt is an attempt that runs, or waits in the queue of an engine.
type attempt struct {
	key
	machine  int
	begun    time.Time // zero: it waits
	reported time.Time // of the last report; zero: none
	share    float64
}

// ring has the newest of some numbers.
type ring struct {
	list []float64
	next int
}

// newest is how many run times a ring keeps.
const newest = 1000

func (r *ring) add(x float64) {
	if len(r.list) < newest {
		r.list = append(r.list, x)
		return
	}
	r.list[r.next] = x
	r.next = (r.next + 1) % newest
}

func (r *ring) median() float64 {
	return causes.Median(slices.Clone(r.list))
}

func newWatch(name string, n Names, all *waits) *Watch {
	if n.Task == nil {
		n.Task = func(task int) string { return fmt.Sprint("task ", task) }
	}
	if n.Machine == nil {
		n.Machine = func(machine int) string { return fmt.Sprint("machine ", machine) }
	}
	return &Watch{
		name: name, names: n, running: map[key]*attempt{}, tasks: map[int]bool{}, said: map[int]restart.Decision{},
		machines: map[int]*ring{}, step: step{tasks: map[int]*member{}}, waits: all,
	}
}

// OnEvent hears an event of the phase. It is a function for engine.Config.OnEvent and tracker.Config.OnEvent. O(1); a
// lost machine takes O(running attempts), and the end of a phase of n tasks O(n log n).
func (w *Watch) OnEvent(e tracker.Event, a tracker.Answer) {
	if a.Ignored {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.began.IsZero() && !e.Time.IsZero() {
		w.began = e.Time
	}
	k := key{e.Task, e.Attempt}
	switch e.Kind {
	case tracker.Started, tracker.Submitted:
		x := &attempt{key: key{e.Task, a.Attempt}, machine: e.Machine}
		if e.Kind == tracker.Started {
			x.begun = e.Time
		}
		if !w.hasLedger {
			w.ledger.Started++
			if w.runs(e.Task, a.Attempt) {
				w.ledger.Copies++
			}
		}
		w.running[x.key] = x
		w.step.begin(x)
	case tracker.Begun:
		if x := w.running[k]; x != nil {
			x.begun, x.machine = e.Time, e.Machine
			w.step.begin(x)
		}
	case tracker.Reported, tracker.Recorded:
		if x := w.running[k]; x != nil {
			x.reported, x.share, w.report = e.Time, e.Report.Score, true
			if work := w.work(e.Task); e.Report.Done > 0 && w.names.Work != nil {
				x.share = e.Report.Done / work
			}
		}
	case tracker.Finished:
		w.finish(e, k)
		for _, other := range a.Overtaken {
			w.end(key{e.Task, other}, e.Time)
		}
	case tracker.Failed, tracker.Killed, tracker.Restarted:
		w.end(k, e.Time)
		if e.Kind == tracker.Restarted && !w.hasLedger {
			w.ledger.Restarts++
		}
	case tracker.MachineLost:
		for k, x := range w.running {
			if x.machine == e.Machine {
				w.end(k, e.Time)
			}
		}
	case tracker.OutputLost:
		delete(w.tasks, e.Task)
		w.step.again = true
	case tracker.Closed:
		clear(w.running)
		if !w.closed {
			w.waits.add(&w.step, w.names)
		}
		w.closed = true
	}
	if a.Task >= 0 && (a.Action != restart.Keep || e.Kind == tracker.Reported || e.Kind == tracker.Asked) {
		w.note(a)
	}
	for _, found := range a.Found {
		w.note(found)
	}
}

func (w *Watch) note(a tracker.Answer) {
	if a.Action != restart.Start {
		w.said[a.Task] = a.Decision
	}
}

// runs reports whether one of the 16 attempts of a task before attempt n runs.
func (w *Watch) runs(task, n int) bool {
	for k := n - 1; k >= max(n-16, 0); k-- {
		if w.running[key{task, k}] != nil {
			return true
		}
	}
	return false
}

// end hears that an attempt has ended, and returns it; nil if it is not known.
func (w *Watch) end(k key, now time.Time) *attempt {
	x := w.running[k]
	delete(w.running, k)
	if x != nil {
		w.step.end(x, now)
	}
	return x
}

// finish hears that an attempt has ended its task.
func (w *Watch) finish(e tracker.Event, k key) {
	w.tasks[e.Task] = true
	delete(w.said, e.Task)
	x := w.end(k, e.Time)
	w.step.finish(e.Task, e.Time)
	if x == nil || x.begun.IsZero() {
		return
	}
	took := within(e.Time.Sub(x.begun).Seconds()/w.work(e.Task), math.MaxFloat64)
	w.times.add(took)
	if w.machines[x.machine] == nil {
		w.machines[x.machine] = &ring{}
	}
	w.machines[x.machine].add(took)
}

// within returns x if it is from 0 to most, and else the nearest of both. For NaN it returns 0.
func within(x, most float64) float64 {
	if x > 0 {
		return min(x, most)
	}
	return 0
}

// duration converts seconds; at most to a hundred years.
func duration(seconds float64) time.Duration {
	return time.Duration(within(seconds, 100*365*24*3600) * float64(time.Second))
}

func (w *Watch) work(task int) float64 {
	if task >= 0 && task < len(w.names.Work) && w.names.Work[task] > 0 && !math.IsInf(w.names.Work[task], 1) {
		return w.names.Work[task]
	}
	return 1
}

// phase is the picture of a phase at a moment.
type phase struct {
	Name                    string
	Running, Waiting, Ended int
	Typical                 time.Duration // the median run time; per unit of work if works are known
	Stragglers              []straggler   // the slowest first
	More                    int           // stragglers that are not listed
	Bars                    [bars]int     // running attempts by age, each bar a quarter of the typical time
	Ledger                  tracker.Ledger
	Bill                    shadow.Bill
	Known, Closed, HasWorks bool
	Since                   time.Duration
	Waits                   []string // sentences about who makes the others wait
	waiting                 waiting
	most                    int
}

// straggler is a running attempt that takes long.
type straggler struct {
	Task, Machine   string
	Begun           time.Time
	Age             time.Duration
	Times           float64 // the typical time
	Share           float64 // done, if it reports
	Cause, Decision string
	Width           float64 // of its bar, of 100
	Typical         float64 // part of the bar that is the typical time, of 100
}

const (
	bars       = 24
	perTypical = 4   // bars for each typical time
	slowFrom   = 1.5 // x the typical time: from here on an attempt is a straggler
	listed     = 100 // stragglers on the page
	mostTimes  = 1e6 // x the typical time: the page shows no more
	slowTimes  = 2   // x the median: a machine is slow
	fewest     = 3   // attempts that must have ended on a slow machine
)

// picture copies the data of the page. It holds the lock for O(running attempts).
func (w *Watch) picture(now time.Time) phase {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := phase{
		Name: w.name, Ended: len(w.tasks), Ledger: w.ledger, Bill: w.bill, Closed: w.closed, HasWorks: w.names.Work != nil,
	}
	if !w.began.IsZero() {
		p.Since = now.Sub(w.began).Round(time.Second)
	}
	typical := w.times.median()
	p.Known, p.Typical = typical > 0, duration(typical).Round(10*time.Millisecond)
	p.waiting = w.waits.waiting(w.names.Task)
	p.Waits = p.waiting.sentences()
	slow := w.slowMachines(typical)
	type late struct {
		x     *attempt
		times float64
	}
	var found []late
	for _, x := range w.running {
		if x.begun.IsZero() {
			p.Waiting++
			continue
		}
		p.Running++
		if !p.Known {
			continue
		}
		times := within(now.Sub(x.begun).Seconds()/(typical*w.work(x.task)), mostTimes)
		bar := min(int(times*perTypical), bars-1)
		p.Bars[bar]++
		p.most = max(p.most, p.Bars[bar])
		if times >= slowFrom {
			found = append(found, late{x, times})
		}
	}
	slices.SortFunc(found, func(a, b late) int {
		return cmp.Or(cmp.Compare(b.times, a.times), cmp.Compare(a.x.task, b.x.task), cmp.Compare(a.x.attempt, b.x.attempt))
	})
	p.More = max(len(found)-listed, 0)
	for _, f := range found[:min(len(found), listed)] {
		p.Stragglers = append(p.Stragglers, w.straggler(f.x, f.times, typical, now, slow))
	}
	return p
}

// slowMachines returns by how many times tasks take longer on machines that are slow.
func (w *Watch) slowMachines(typical float64) map[int]float64 {
	slow := map[int]float64{}
	for machine, r := range w.machines {
		if factor := r.median() / typical; len(r.list) >= fewest && factor >= slowTimes {
			slow[machine] = factor
		}
	}
	return slow
}

// straggler describes an attempt that takes long.
func (w *Watch) straggler(x *attempt, times, typical float64, now time.Time, slow map[int]float64) straggler {
	s := straggler{
		Task: w.names.Task(x.task), Machine: w.names.Machine(x.machine), Begun: x.begun, Times: times, Share: x.share,
		Age: now.Sub(x.begun).Round(time.Second), Width: min(100*times*perTypical/bars, 100),
		Typical: 100 / min(times, bars/perTypical),
	}
	expected := duration(typical * w.work(x.task))
	factor, isSlow := slow[x.machine]
	switch {
	case isSlow:
		s.Cause = fmt.Sprintf("the machine is %.1f times slower than the others", factor)
	case !x.reported.IsZero() && now.Sub(x.reported) > expected:
		s.Cause = fmt.Sprintf("no report for %v", now.Sub(x.reported).Round(time.Second))
	case x.share > 0:
		s.Cause = fmt.Sprintf("%.0f %% done after %.1f typical times", 100*min(x.share, 1), times)
	case w.report:
		s.Cause = "no report since it began, and other attempts report"
	default:
		s.Cause = "not known: attempts report no progress"
	}
	s.Decision = "not decided yet"
	if d, ok := w.said[x.task]; ok {
		s.Decision = d.Sentence()
		if w.bill.Tasks > 0 && d.Action != restart.Keep {
			s.Decision = "in shadow mode, not carried out: " + s.Decision
		}
	}
	return s
}
