package tracker

import (
	"math"
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
		require.Equal(t, suspect, x.fleet.machines[i].suspicion.suspect, "machine %d", x.fleet.machines[i].number)
		if suspect {
			suspects++
		}
	}
	return suspects
}

// Recount counts everything in a tracker again that its parts count as events arrive, by plain loops over the tasks, the
// attempts and the machines. Each count must be the same. Tests call it after random events.
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
		require.Equal(t, n > 0, s.newest != none, "task %d has attempts", i)
		require.False(t, n > 0 && s.flags&(waits|finished|givenUp) != 0, "task %d runs, and waits, is finished or given up", i)
		require.False(t, s.flags&waits != 0 && s.flags&(finished|givenUp|forgotten) != 0, "task %d waits, and is over", i)
		if s.candidate != none {
			listed++
			require.Equal(t, int32(i), b.candidates[s.candidate])
			require.True(t, begun, "candidate %d runs", i)
		}
		if s.history != none {
			stakes += b.histories[s.history].trial.Stake
		}
	}
	free := 0
	for i := b.attempts.free; i != none; i = b.attempts.all[i].next {
		free++
	}
	require.Equal(t, len(b.attempts.all), running+free, "attempts and free entries")
	require.Equal(t, running, b.running, "attempts that run")
	require.Equal(t, running-first, b.copies(), "copies")
	require.Equal(t, b.copies(), x.charged, "copies that the budget knows")
	require.Equal(t, working, b.working, "tasks that run")
	require.Equal(t, finishedNow, b.finished, "finished tasks")
	require.Equal(t, waiting, b.waiting.waits, "waiting tasks")
	require.Equal(t, queuedNow, len(b.waiting.heap), "tasks in the heap")
	require.Equal(t, len(b.candidates), listed, "candidates")
	require.Equal(t, samples, x.forecast.runningSamples, "attempts that run with a sample")
	if x.trials.on {
		require.Equal(t, stakes, x.trials.AtRisk, "slot time at risk")
	}
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
		require.Equal(t, int32(i), fl.find(m.number))
		if fl.pace != nil {
			ended := m.total - totals[i] // an attempt that never began may end with success, too
			require.Equal(t, math.Trunc(ended), ended, "progress of machine %d", m.number)
			require.GreaterOrEqual(t, ended, float64(m.suspicion.ended), "progress of machine %d", m.number)
		}
	}
	require.Equal(t, leaving, fl.leaving, "machines that leave")
	require.Equal(t, refused, fl.refused, "machines that are refused")
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
			require.Equal(t, row, b.row(r.indexes[row]))
		case s.flags&queued == 0:
			free++
			require.Contains(t, r.free, int32(row))
		}
	}
	for i := range r.ends.n {
		if e := r.ends.at(i); !e.void {
			if ended++; e.finished {
				finishedLately++
			}
		}
	}
	require.Equal(t, known, r.of.Len(), "tasks that are not forgotten")
	require.Equal(t, free, len(r.free), "free rows")
	require.Equal(t, ended, r.ended, "tasks that have ended lately")
	require.Equal(t, finishedLately, r.finished, "tasks that have finished lately")
	successes := make([]int32, len(x.fleet.machines))
	for i := range x.recent.learnt.n {
		if l := x.recent.learnt.at(i); l.success && l.machine != none {
			successes[l.machine]++
		}
	}
	for i := range successes {
		require.Equal(t, successes[i], x.fleet.machines[i].suspicion.ended, "ends on machine %d", x.fleet.machines[i].number)
	}
}
