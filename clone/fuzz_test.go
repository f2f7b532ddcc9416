package clone

import (
	"encoding"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/internal/snapshot/snapshottest"
)

func FuzzCount(f *testing.F) {
	f.Add(10, .1, .05)
	f.Add(1, .1, .1)
	f.Add(1000, .999999, 1e-300)
	f.Add(math.MaxInt, 5e-324, 5e-324)
	f.Fuzz(func(t *testing.T, n int, p, eps float64) {
		c, err := Count(n, p, eps)
		valid := n >= 1 && p >= 0 && p < 1 && eps > 0
		if valid != (err == nil) {
			t.Fatalf("Count(%d, %v, %v) = %d, %v", n, p, eps, c, err)
		}
		if err != nil {
			return
		}
		if c < 1 {
			t.Fatalf("Count(%d, %v, %v) = %d", n, p, eps, c)
		}
		// A smaller risk or more tasks never need fewer clones.
		if stricter, _ := Count(n, p, eps/2); eps/2 > 0 && stricter < c {
			t.Errorf("n=%d p=%v: %d clones for %v, but %d for half of it", n, p, c, eps, stricter)
		}
		if n < math.MaxInt {
			if more, _ := Count(n+1, p, eps); more < c {
				t.Errorf("p=%v eps=%v: %d clones for %d tasks, but %d for one more", p, eps, c, n, more)
			}
		}
	})
}

// FuzzBudget plays a sequence of jobs, task ends, cancellations and preemptions. The fuzz test checks the charges
// against a slow account, the limits after every admission, and the plans of preemption.
func FuzzBudget(f *testing.F) {
	f.Add([]byte{0, 0, 10, 0, 10, 1, 0, 3, 0, 20, 3, 4})
	f.Add([]byte{5, 0, 40, 0, 30, 3, 2, 2, 0, 1, 0})
	f.Add([]byte{0, 0, 20, 0, 15, 3, 10})                // a preemption
	f.Add([]byte{1, 0, 30, 0, 20, 1, 232, 4, 10, 3, 10}) // a preemption where the largest job has few running tasks and the cluster shrank
	f.Add([]byte{0, 0, 10, 5, 0, 0, 12, 1, 3, 5, 0, 3, 4, 0, 9})
	f.Add([]byte{2, 0, 90, 0, 90, 0, 90, 3, 1, 3, 1, 3, 9})
	f.Fuzz(func(t *testing.T, script []byte) {
		if len(script) == 0 || len(script) > 1000 { // the slow account is quadratic
			return
		}
		charge, shortage := Charge(script[0]%2), Shortage(script[0]/2%3)
		budget, err := NewBudget(Config{Charge: charge, Shortage: shortage, BudgetShare: .3})
		if err != nil {
			t.Fatal(err)
		}
		h := host{t: t, budget: budget, charge: charge, now: Cluster{Capacity: 400, Straggler: .1}}
		for i := 1; i+1 < len(script); i += 2 {
			h.step(script[i], int(script[i+1]))
		}
	})
}

// host is a cluster that carries out the decisions and keeps its own account.
type host struct {
	t      *testing.T
	budget *Budget
	charge Charge
	now    Cluster
	jobs   []running
}

type running struct {
	grant               Grant
	size, tasks, clones int
}

// limit and ceiling are whole numbers: 30 % and 80 % of a capacity that is a multiple of ten.
func (h *host) limit() int   { return h.now.Capacity / 10 * 3 }
func (h *host) ceiling() int { return h.now.Capacity / 10 * 8 }

func (r running) cost(c Charge) int { return r.tasks * (r.clones - int(c)) }

func (h *host) step(op byte, arg int) {
	switch op % 6 {
	case 5:
		h.restart()
	case 0:
		h.admit(Job{Tasks: arg, Upstream: int(op / 6 % 5), NoCopy: op > 200})
	case 1: // tasks of one job end
		if len(h.jobs) > 0 {
			j := &h.jobs[arg%len(h.jobs)]
			ended := min(arg/8, j.tasks)
			before := j.cost(h.charge)
			j.tasks -= ended
			if got, want := h.budget.Release(j.grant, arg/8), before-j.cost(h.charge); got != want {
				h.t.Fatalf("Release gave back %d, want %d", got, want)
			}
			h.now.Busy -= ended * j.clones
		}
	case 2: // a job goes away
		if len(h.jobs) > 0 {
			h.cancel(h.jobs[arg%len(h.jobs)].grant, true)
		}
	case 3:
		h.preempt(Job{Tasks: arg})
	case 4: // machines join or leave, so more slots may be in use than allowed
		h.now.Capacity = 10 * arg
	}
	want := 0
	for _, j := range h.jobs {
		want += j.cost(h.charge)
	}
	if h.budget.Spent() != want {
		h.t.Fatalf("Spent() = %d, want %d", h.budget.Spent(), want)
	}
}

// restart makes a new budget that takes over the running clones. The new budget must continue as the old budget
// would.
func (h *host) restart() {
	fresh, err := NewBudget(h.budget.Config())
	if err != nil {
		h.t.Fatal(err)
	}
	live := h.jobs[:0]
	for _, j := range h.jobs {
		if j.grant = fresh.Readmit(j.size, j.tasks, j.clones); j.tasks > 0 {
			live = append(live, j)
		}
	}
	h.jobs = live
	if fresh.Spent() != h.budget.Spent() {
		h.t.Fatalf("%d slots charged after a restart, %d before", fresh.Spent(), h.budget.Spent())
	}
	h.budget = fresh
}

func (h *host) admit(job Job) Decision {
	preview := h.budget.preview(job, h.now)
	d := h.budget.Admit(job, h.now)
	grant := d.Grant
	d.Grant = Grant{}
	if d != preview {
		h.t.Fatalf("preview said %v, Admit %v", preview, d)
	}
	if d.Action != Clone {
		if grant != (Grant{}) || d.Clones != 1 {
			h.t.Fatalf("%v has a grant, or %d clones", d, d.Clones)
		}
		return d
	}
	h.now.Busy += job.Tasks + (d.Clones-1)*d.Tasks
	if h.now.Busy > h.ceiling() || h.budget.Spent() > h.limit() || h.now.Busy != d.Busy || h.budget.Spent() != d.Spent {
		h.t.Fatalf("%v: %d slots busy of %d, %d spent of %d", d, h.now.Busy, h.ceiling(), h.budget.Spent(), h.limit())
	}
	if job.NoCopy || job.Upstream > 0 && d.Clones > job.Upstream || d.Clones < 2 {
		h.t.Fatalf("%+v got %v", job, d)
	}
	h.jobs = append(h.jobs, running{grant: grant, size: job.Tasks, tasks: d.Tasks, clones: d.Clones})
	h.now.Busy -= job.Tasks - d.Tasks // ignores the tasks that are not cloned
	d.Grant = grant
	return d
}

// cancel kills a job's clones, and also its tasks if all is set. The grant must be invalid then.
func (h *host) cancel(g Grant, all bool) {
	for i, j := range h.jobs {
		if j.grant != g {
			continue
		}
		h.now.Busy -= j.tasks * (j.clones - 1)
		if all {
			h.now.Busy -= j.tasks
		}
		if got := h.budget.Cancel(g); got != j.cost(h.charge) {
			h.t.Fatalf("Cancel gave back %d, want %d", got, j.cost(h.charge))
		}
		h.jobs = append(h.jobs[:i], h.jobs[i+1:]...)
		break
	}
	if back := h.budget.Release(g, 1); back != 0 {
		h.t.Fatalf("an invalid grant gave back %d slots", back)
	}
}

// checkNeeded checks that each victim is needed: without it there is not enough room.
func (h *host) checkNeeded(denied Decision, victims []Grant) {
	if denied.Action == Clone { // for fewer clones than wanted, so Spent and Busy are not the wanted ones
		return
	}
	for _, spared := range victims {
		spent, busy := denied.Spent, denied.Busy
		for _, g := range victims {
			for _, j := range h.jobs {
				if g != spared && g == j.grant {
					spent -= j.cost(h.charge)
					busy -= j.tasks * (j.clones - 1)
				}
			}
		}
		if spent <= h.limit() && busy <= h.ceiling() {
			h.t.Fatalf("there are %d victims, and %v is superfluous", len(victims), spared)
		}
	}
}

func (h *host) preempt(job Job) {
	before := h.budget.preview(job, h.now)
	victims := h.budget.Victims(nil, job, h.now)
	h.checkNeeded(before, victims)
	if before.Reason == RoomForAll && len(victims) > 0 {
		h.t.Fatalf("%v needs no room, but has %d victims", before, len(victims))
	}
	last := 1 << 30
	for i, g := range victims {
		if d := h.budget.preview(job, h.now); d.Reason == RoomForAll {
			h.t.Fatalf("there are %d victims, but %d already make enough room: %v", len(victims), i, d)
		}
		for _, j := range h.jobs {
			if j.grant == g {
				if j.size <= job.Tasks || j.size > last {
					h.t.Fatalf("a job of %d tasks is a victim for a job of %d tasks, after a victim of %d tasks", j.size, job.Tasks, last)
				}
				last = j.size
			}
		}
		h.cancel(g, false)
	}
	if len(victims) > 0 {
		if d := h.admit(job); d.Reason != RoomForAll {
			h.t.Fatalf("after the preemption: %v", d)
		}
	}
}

// FuzzSnapshots reads arbitrary bytes as each type of state. The result is an error, or a state that answers and is written
// as it was read.
func FuzzSnapshots(f *testing.F) {
	now := time.Unix(1e9, 0)
	e, _ := NewEstimator(EstimatorConfig{})
	b, _ := NewBlacklist(3, BlacklistConfig{MinTasks: 1})
	for i := range 9 {
		e.Observe(now.Add(time.Duration(i)*time.Hour), []float64{10, 11, 9, 1})
		b.Observe(now.Add(time.Duration(i)*time.Minute), i%3, i%2 == 0)
	}
	for _, state := range []encoding.BinaryMarshaler{e, b, new(Estimator), new(Blacklist)} {
		data, _ := state.MarshalBinary()
		f.Add(snapshottest.Body(data))
		f.Add(data[:len(data)/2])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		data = snapshottest.Sealed(data)
		e, b := new(Estimator), new(Blacklist)
		if e.UnmarshalBinary(data) == nil {
			snapshottest.Through(t, e)
			if p, known := e.P(now); known && !(p >= 0 && p <= 1) {
				t.Fatal(p)
			}
			e.Observe(now, []float64{1, 2, 3})
		} else {
			require.Equal(t, new(Estimator), e)
		}
		if b.UnmarshalBinary(data) == nil {
			snapshottest.Through(t, b)
			b.Observe(now, 0, true)
			b.AppendBanned(nil, now.Add(time.Hour))
		} else {
			require.Equal(t, new(Blacklist), b)
		}
	})
}
