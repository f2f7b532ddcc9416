package tracker_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/internal/policytest"
	"github.com/straggler-go/straggler/restart/rules"
	"github.com/straggler-go/straggler/restart/tracker"
)

// A Tracker accepts any sequence of events without a panic. After each event its numbers are consistent.
func FuzzTracker(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("\x00\x04\x02\x03\x00\x01\x00\x08\x00\x01\x01\x02\x00\x00\x20\x03\x00\x00\x02\x10"))
	f.Add([]byte(strings.Repeat("\x00\x09\x0a\x01\x12\x02\x1b\x03\x24\x04", 30)))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 4000 {
			return
		}
		r := &policytest.Reader{Data: data}
		names := []restart.Policy{
			nil, rules.LATE{MinAge: restart.Off}, rules.Hadoop{MinAge: restart.Off}, rules.Spark{Quantile: 0.1},
			rules.Flink{Ratio: 0.1, LowerBound: restart.Off}, everything{restart.Mantri{}}, rules.Dryad{MinFinished: 1},
			everything{rules.LATE{MinAge: restart.Off}},
		}
		config := tracker.Config{
			Work: make([]float64, r.Byte()%12), Slots: int(r.Byte() % 8), Machines: int(r.Byte() % 5),
			Interval: (1 + time.Duration(r.Byte())) * time.Second, Policy: names[int(r.Byte())%len(names)],
		}
		for i := range config.Work {
			config.Work[i] = r.Float()
		}
		budget, err := tracker.NewBudget(tracker.BudgetConfig{Slots: 4})
		if err != nil {
			t.Fatal(err)
		}
		config.Budget = budget
		if config.Machines > 0 {
			config.Knowledge = new(tracker.Knowledge)
			config.Path = func(task, machine int) float64 { return float64(task%3) / float64(machine+1) }
			config.Clones = config.Machines
		}
		tr, err := tracker.New(config)
		if err != nil {
			t.Fatal(err)
		}
		now, givenUp := start, 0
		for len(r.Data) > 0 {
			now = now.Add(r.Duration())
			givenUp += event(t, r, tr, now)
			consistent(t, tr, budget, givenUp, config.Clones > 1)
		}
	})
}

// event sends a random event to a tracker. It returns by how much the number of given-up tasks changed.
func event(t *testing.T, r *policytest.Reader, tr *tracker.Tracker, now time.Time) (givenUp int) {
	task, attempt := int(r.Byte()%16)-2, int(r.Byte()%6)-1
	switch k := r.Byte(); k % 13 {
	case 0, 1, 2:
		tr.Start(now, task, r.Int())
	case 3, 4:
		d := tr.Report(now, task, attempt, tracker.Report{Done: r.Float(), Score: r.Float(), Remaining: r.Duration()})
		trackerSane(t, d)
	case 5:
		waiting, late := tr.Phase().Waiting, tr.Ledger().Late
		overtaken := tr.Finish(now, task, attempt)
		if tr.Ledger().Late > late && len(overtaken) == 0 && tr.Phase().Waiting == waiting {
			givenUp = -1 // a late result of a task that had been given up
		}
	case 6:
		tr.Fail(now, task, attempt)
	case 7:
		tr.Kill(now, task, attempt)
	case 8:
		tr.Restart(now, task, attempt)
	case 9:
		switch k / 13 % 6 {
		case 0:
			tr.LoseMachine(now, r.Int())
		case 1:
			tr.LoseOutput(now, task)
		case 2:
			tr.SetSlots(r.Int() % 100)
		case 3:
			tr.SetEligible(task, k&1 == 0, k&2 == 0)
		case 4:
			tr.Sweep(now, func(a tracker.Answer) {
				trackerSane(t, a)
				tr.Start(now, a.Task, 0)
			})
		case 5:
			waiting := tr.Phase().Waiting
			tr.GiveUp(now, task)
			givenUp = waiting - tr.Phase().Waiting
		}
	case 10:
		tr.Submit(now, task, r.Int())
	case 11:
		tr.Begin(now, task, attempt, r.Int())
	default:
		a := tr.Next(now, r.Int())
		if trackerSane(t, a); (a.Task < 0) != (a.Action == restart.Keep) {
			t.Fatalf("Next must name a task exactly if it acts: task %d, %v", a.Task, a)
		}
	}
	return givenUp
}

var answerLine = regexp.MustCompile(`^(task=\d+ )?(keep|copy|restart|kill|start) [a-z-]+( attempt=\d+)?( basis=[a-z-]+)?( [a-z-]+=([0-9.e+,?s-]+|inf))*$`)

func trackerSane(t *testing.T, d tracker.Answer) {
	t.Helper()
	if d.Decision != d.Decision || d.Attempt < 0 || !answerLine.MatchString(d.String()) {
		t.Fatalf("Next gave a decision that is out of range: %+v", d)
	}
}

func consistent(t *testing.T, tr *tracker.Tracker, budget *tracker.Budget, givenUp int, clones bool) {
	t.Helper()
	p, l := tr.Phase(), tr.Ledger()
	active := p.Tasks - p.Finished - p.Waiting - givenUp
	// The answer does not list overtaken attempts here, so this number is an upper bound. A late success comes from an
	// attempt that the tracker already counts as ended.
	running := l.Started - l.Restarts - l.Pruned - l.Failed - l.Finished + l.Late
	switch {
	case min(p.Tasks, p.Finished, p.Waiting, p.Slots, p.FreeSlots, p.Copies) < 0, givenUp < 0, active < 0:
		t.Fatalf("the counts of the phase contradict each other: %+v", p)
	case active+p.Copies > running:
		t.Fatalf("more copies run than were started: %+v %+v", p, l)
	case p.FreeSlots < max(0, p.Slots-running), p.FreeSlots > max(0, p.Slots-active-p.Copies), // clones hold slots, too
		!clones && p.FreeSlots != max(0, p.Slots-active-p.Copies):
		t.Fatalf("the free slots contradict the counts: %+v", p)
	case budget.Running() != p.Copies:
		t.Fatalf("the budget counts %d copies: %+v", budget.Running(), p)
	case min(l.Started, l.Finished, l.Copies, l.Restarts, l.Won, l.Lost, l.Pruned, l.Failed, l.Ignored) < 0:
		t.Fatalf("the ledger has a negative count: %+v", l)
	case l.Used < 0 || l.Wasted < 0 || l.Wasted > l.Used, l.Won+l.Lost > l.Copies, l.Won > l.Finished:
		t.Fatalf("the ledger contradicts itself: %+v", l)
	case !(p.Peers.MeanScore >= 0 && p.Peers.MeanScore <= 1+1e-9), p.Peers.Throughput-p.Peers.Throughput != 0:
		t.Fatalf("the sums of the peers are out of range: %+v", p.Peers)
	}
}
