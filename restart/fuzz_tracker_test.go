package restart_test

import (
	"strings"
	"testing"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"
)

// A Tracker takes any sequence of events without harm: its counts fit together after each.
func FuzzTracker(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("\x00\x04\x02\x03\x00\x01\x00\x08\x00\x01\x01\x02\x00\x00\x20\x03\x00\x00\x02\x10"))
	f.Add([]byte(strings.Repeat("\x00\x09\x0a\x01\x12\x02\x1b\x03\x24\x04", 30)))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 4000 {
			return
		}
		r := &reader{data}
		names := []restart.Policy{
			nil, restart.LATE{MinAge: restart.Off}, restart.Hadoop{MinAge: restart.Off}, restart.Spark{Quantile: 0.1},
			restart.Flink{Ratio: 0.1, LowerBound: restart.Off}, everything{restart.Mantri{}}, restart.Dryad{MinFinished: 1},
			everything{restart.LATE{MinAge: restart.Off}},
		}
		config := restart.Config{
			Work: make([]float64, r.byte()%12), Slots: int(r.byte() % 8), Machines: int(r.byte() % 5),
			Interval: time.Duration(r.byte()) * time.Second, Policy: names[int(r.byte())%len(names)],
		}
		for i := range config.Work {
			config.Work[i] = r.float()
		}
		budget, err := restart.NewBudget(restart.BudgetConfig{Slots: 4})
		if err != nil {
			t.Fatal(err)
		}
		config.Budget = budget
		if config.Machines > 0 {
			if config.Factors, err = estimate.NewMachines(config.Machines, estimate.MachinesConfig{}); err != nil {
				t.Fatal(err)
			}
		}
		tracker, err := restart.NewTracker(config)
		if err != nil {
			t.Fatal(err)
		}
		now, givenUp := start, 0
		for len(r.data) > 0 {
			now = now.Add(r.duration())
			givenUp += event(t, r, tracker, now)
			consistent(t, tracker, budget, givenUp)
		}
	})
}

// event tells a tracker of something, and returns how many tasks it took as given up.
func event(t *testing.T, r *reader, tracker *restart.Tracker, now time.Time) (givenUp int) {
	task, attempt := int(r.byte()%16)-2, int(r.byte()%6)-1
	switch k := r.byte(); k % 13 {
	case 0, 1, 2:
		tracker.Start(now, task, r.int())
	case 3, 4:
		d := tracker.Report(now, task, attempt, restart.Progress{Done: r.float(), Score: r.float(), Remaining: r.duration()})
		trackerSane(t, d)
	case 5:
		tracker.Finish(now, task, attempt, nil)
	case 6:
		tracker.Fail(now, task, attempt)
	case 7:
		tracker.Kill(now, task, attempt)
	case 8:
		tracker.Restart(now, task, attempt)
	case 9:
		switch k / 13 % 6 {
		case 0:
			tracker.LoseMachine(now, r.int(), nil)
		case 1:
			tracker.LoseOutput(now, task)
		case 2:
			tracker.SetSlots(r.int() % 100)
		case 3:
			tracker.SetEligible(task, k&1 == 0, k&2 == 0)
		case 4:
			tracker.Sweep(now, func(task int, d restart.Decision) {
				trackerSane(t, d)
				tracker.Start(now, task, 0)
			})
		case 5:
			waiting := tracker.Phase().Waiting
			tracker.GiveUp(now, task)
			givenUp = waiting - tracker.Phase().Waiting
		}
	case 10:
		tracker.Submit(now, task, r.int())
	case 11:
		tracker.Begin(now, task, attempt, r.int())
	default:
		task, d := tracker.Next(now, r.int())
		if trackerSane(t, d); (task < 0) != (d.Action == restart.Keep) {
			t.Fatalf("Next = %d, %v", task, d)
		}
	}
	return givenUp
}

func trackerSane(t *testing.T, d restart.Decision) {
	t.Helper()
	if d != d || d.Copy < 0 || !decisionLine.MatchString(d.String()) {
		t.Fatalf("an odd decision: %+v", d)
	}
}

func consistent(t *testing.T, tracker *restart.Tracker, budget *restart.Budget, givenUp int) {
	t.Helper()
	p, l := tracker.Phase(), tracker.Ledger()
	active := p.Tasks - p.Finished - p.Waiting - givenUp
	running := l.Started - l.Restarts - l.Pruned - l.Failed - l.Finished // and less those overtaken, which are not listed
	switch {
	case min(p.Tasks, p.Finished, p.Waiting, p.Slots, p.FreeSlots, p.Speculative) < 0, givenUp < 0, active < 0:
		t.Fatalf("counts do not fit: %+v", p)
	case active+p.Speculative > running:
		t.Fatalf("more copies run than were started: %+v %+v", p, l)
	case p.FreeSlots != max(0, p.Slots-active-p.Speculative):
		t.Fatalf("free slots do not fit: %+v", p)
	case budget.Running() != p.Speculative:
		t.Fatalf("the budget counts %d copies: %+v", budget.Running(), p)
	case min(l.Started, l.Finished, l.Copies, l.Restarts, l.Won, l.Lost, l.Pruned, l.Failed, l.Ignored) < 0:
		t.Fatalf("negative counts: %+v", l)
	case l.Used < 0 || l.Wasted < 0 || l.Wasted > l.Used, l.Won+l.Lost > l.Copies, l.Won > l.Finished:
		t.Fatalf("the ledger does not fit: %+v", l)
	case !(p.Peers.MeanScore >= 0 && p.Peers.MeanScore <= 1+1e-9), p.Peers.Throughput-p.Peers.Throughput != 0:
		t.Fatalf("sums do not fit: %+v", p.Peers)
	}
}
