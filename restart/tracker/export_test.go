package tracker

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate"
)

// Suspects finds the suspect machines of a tracker again, after all facts about machines were refreshed, by the
// definition: of n machines at most a fiftieth would have so many overdue attempts by chance. It returns their number.
func Suspects(t testing.TB, tr *Tracker) (suspects int) {
	t.Helper()
	x := &tr.phase
	x.ages.fittedAt = noTime
	x.refit()
	f, n := &x.forecast, len(x.fleet.machines)
	long := 1.5 * f.rates.Quantile(.5)
	all, slow, overdue := 0., 0., make([]int, n)
	for i := range x.book.tasks {
		for j := x.book.tasks[i].newest; j != none; j = x.book.attempts.all[j].next {
			a := &x.book.attempts.all[j]
			if !a.begun {
				continue
			}
			whole, r := (x.book.now - a.start).Seconds(), x.run(a)
			if left := f.remaining(r, x.book.now); left != estimate.Unknown {
				whole = ((x.book.now - a.start) + left).Seconds()
			}
			if all++; whole/f.rates.Work(float64(r.work)) > long {
				if slow++; a.machine != none {
					overdue[a.machine]++
				}
			}
		}
	}
	_, ended := x.book.lately()
	all, slow = all+float64(ended), slow+(1-f.rates.CDF(long))*float64(ended)
	for i := range n {
		k, of := float64(overdue[i]), float64(x.fleet.machines[i].suspicion.ended)+float64(overdue[i])
		ways, _ := math.Lgamma(of + 1)
		less, _ := math.Lgamma(k + 1)
		rest, _ := math.Lgamma(of - k + 1)
		chance := float64(n) * math.Exp(ways-less-rest) * math.Pow(slow/all, k)
		suspect := n > 1 && k > 1 && chance <= .02
		if got := x.fleet.machines[i].suspicion.suspect; got != suspect {
			require.Equal(t, suspect, got, "machine %d", x.fleet.machines[i].number)
		}
		if suspect {
			suspects++
		}
	}
	return suspects
}

// Recount counts everything in a tracker again that its parts count as events arrive, by plain loops over the tasks, the
// attempts and the machines. Each count must be the same. Tests call it after random events, thousands of times; so it
// calls testify, which asks for the stack, once for all counts, and not once for each task.
func Recount(t testing.TB, tr *Tracker) {
	t.Helper()
	x := &tr.phase
	recountBook(t, x)
	recountFleet(t, x)
	if x.recent.grows() {
		recountRows(t, x)
	}
}

// recountBook counts tasks and attempts, and what the forecast and the account of trials have of them.
func recountBook(t testing.TB, x *phase) {
	t.Helper()
	b := &x.book
	running, first, working, finishedNow, waiting, queuedNow, samples, listed := 0, 0, 0, 0, 0, 0, 0, 0
	scores, stakes := 0.0, time.Duration(0)
	for i := range b.tasks {
		s := &b.tasks[i]
		n, clones, begun, furthest := 0, 0, false, 0.0
		for j := range b.attempts.all {
			a := &b.attempts.all[j]
			if a.task != int32(i) {
				continue
			}
			if n++; a.attempt < b.clones {
				clones++
			}
			begun, furthest = begun || a.begun, max(furthest, a.score)
			if a.track.sample != estimate.NoSample {
				samples++
			}
		}
		if running += n; n > 0 {
			first += max(clones, 1)
		}
		if begun {
			working++
		}
		if s.flags&finished != 0 {
			finishedNow++
			furthest = 1
		}
		if s.flags&finished == 0 || !x.recent.grows() {
			scores += furthest
		}
		if s.flags&waits != 0 {
			waiting++
		}
		if s.flags&queued != 0 {
			queuedNow++
		}
		switch {
		case n > 0 != (s.newest != none):
			t.Fatalf("task %d has attempts: %v, want %v", i, s.newest != none, n > 0)
		case n > 0 && s.flags&(waits|finished|givenUp) != 0:
			t.Fatalf("task %d runs, and waits, is finished or given up", i)
		case s.flags&waits != 0 && s.flags&(finished|givenUp|forgotten) != 0:
			t.Fatalf("task %d waits, and is over", i)
		}
		if s.candidate != none {
			listed++
			if at := b.candidates[s.candidate]; at != int32(i) || !begun {
				t.Fatalf("candidate %d is listed as %d, and runs: %v", i, at, begun)
			}
		}
		if s.history != none {
			stakes += b.histories[s.history].trial.Stake
		}
	}
	free := 0
	for i := b.attempts.free; i != none; i = b.attempts.all[i].next {
		free++
	}
	type counts struct {
		entries, running, copies, charged, working, finished, waiting, queued, candidates, samples int
		atRisk                                                                                     time.Duration
	}
	want := counts{running + free, running, running - first, running - first, working, finishedNow, waiting, queuedNow, listed, samples, 0}
	got := counts{
		len(b.attempts.all), b.running, b.copies(), x.charged, b.working, b.finished, b.waiting.waits, len(b.waiting.heap),
		len(b.candidates), x.forecast.runningSamples, 0,
	}
	if x.trials.on {
		want.atRisk, got.atRisk = stakes, x.trials.AtRisk
	}
	require.Equal(t, want, got)
	if x.recent.grows() {
		scores += float64(b.rows.finished)
	}
	if x.furthest(&taskState{flags: finished}) > 0 {
		require.InDelta(t, scores, x.peers.scores, scoreNoise, "sum of the scores")
	}
}

// recountFleet counts the machines that leave and that are refused, and the progress of each machine.
func recountFleet(t testing.TB, x *phase) {
	t.Helper()
	fl, leaving, refused := &x.fleet, 0, 0
	totals := make([]float64, len(fl.machines))
	for i := range x.book.attempts.all {
		if a := &x.book.attempts.all[i]; a.task != none && a.machine != none {
			totals[a.machine] += math.Round(a.score*(1<<24)) / (1 << 24)
		}
	}
	for i := range fl.machines {
		m := &fl.machines[i]
		if m.leaves != noTime {
			leaving++
		}
		if m.refused {
			refused++
		}
		if at := fl.find(m.number); at != int32(i) {
			t.Fatalf("machine %d is found at %d, want %d", m.number, at, i)
		}
		// An attempt that never began may end with success, too.
		if ended := m.total - totals[i]; fl.pace != nil && (math.Trunc(ended) != ended || !(ended >= float64(m.suspicion.ended))) {
			t.Fatalf("machine %d has the progress of %v ended attempts, and %d have ended", m.number, ended, m.suspicion.ended)
		}
	}
	require.Equal(t, [2]int{leaving, refused}, [2]int{fl.leaving, fl.refused}, "machines that leave, and that are refused")
}

// recountRows counts the rows of a growing phase, and what it is to forget.
func recountRows(t testing.TB, x *phase) {
	t.Helper()
	b, r := &x.book, x.book.rows
	known, free, ended, finishedLately := 0, 0, 0, 0
	for row := range b.tasks {
		s := &b.tasks[row]
		switch {
		case s.flags&forgotten == 0:
			known++
			if got := b.row(r.indexes[row]); got != row {
				t.Fatalf("task %d has row %d, want %d", r.indexes[row], got, row)
			}
		case s.flags&queued == 0:
			free++
			if !slices.Contains(r.free, int32(row)) {
				t.Fatalf("row %d is free, and not among %v", row, r.free)
			}
		}
	}
	for i := range r.ends.n {
		if e := r.ends.at(i); !e.void {
			if ended++; e.finished {
				finishedLately++
			}
		}
	}
	require.Equal(t, [4]int{known, free, ended, finishedLately}, [4]int{r.of.Len(), len(r.free), r.ended, r.finished},
		"tasks that are not forgotten, free rows, tasks that have ended and that have finished lately")
	successes := make([]int32, len(x.fleet.machines))
	for i := range x.recent.learnt.n {
		if l := x.recent.learnt.at(i); l.success && l.machine != none {
			successes[l.machine]++
		}
	}
	for i := range successes {
		if m := &x.fleet.machines[i]; m.suspicion.ended != successes[i] {
			t.Fatalf("%d attempts have ended on machine %d, want %d", m.suspicion.ended, m.number, successes[i])
		}
	}
}
