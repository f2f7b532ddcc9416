package tracker

import (
	"math"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
)

// peers keeps the facts of other tasks that the rules of other engines read. It keeps only facts that the policy
// reads, so that the other policies do not pay for them.
type peers struct {
	reads rules.Facts

	scores   float64 // sum over tasks that run or have finished: the score of the furthest attempt, or 1
	workDone float64 // by finished tasks
	workTime float64 // their run time in seconds

	// Nil if the policy does not read them.
	durations     *estimate.Empirical // run times of finished tasks
	unitTimes     *estimate.Empirical // run times of finished tasks per unit of work
	progressRates *estimate.Empirical // LATE's score/age of running and finished tasks
}

func newPeers(reads rules.Facts) peers {
	p := peers{reads: reads}
	for _, one := range [...]struct {
		fact rules.Facts
		of   **estimate.Empirical
	}{{rules.Durations, &p.durations}, {rules.UnitTimes, &p.unitTimes}, {rules.ProgressRates, &p.progressRates}} {
		if reads.Has(one.fact) {
			*one.of = new(estimate.Empirical)
		}
	}
	return p
}

// furthest returns the part of a task in the sum of scores: 1 if the task has finished, otherwise the score of its
// furthest running attempt. It returns 0 if no policy reads scores.
func (ps *peers) furthest(b *book, s *taskState) float64 {
	if !ps.reads.Has(rules.Scores) {
		return 0
	}
	if s.flags&finished != 0 {
		return 1
	}
	score := 0.0
	for i := s.newest; i != none; i = b.attempts.all[i].next {
		score = max(score, b.attempts.all[i].score)
	}
	return score
}

// finish adds the run time of an attempt that ended its task, and the work that the attempt reported.
func (ps *peers) finish(seconds float64, s *taskState, w stint, done float64) {
	if ps.durations != nil {
		ps.durations.Insert(seconds)
	}
	work := float64(w)
	if ps.unitTimes != nil && work > 0 {
		ps.unitTimes.Insert(seconds / work)
	}
	if ps.reads.Has(rules.Throughput) {
		if done > overWork*work || done > 0 && s.flags&knownWork == 0 {
			work = done // if totals are not known, the reported work counts, as for tasks that run
		}
		ps.workDone = min(ps.workDone+work, math.MaxFloat64)
		ps.workTime += seconds
	}
}

// addPace adds a sample to the progress rates. An attempt of age 0 has no rate.
func (ps *peers) addPace(score float64, age time.Duration) {
	if ps.progressRates != nil && age > 0 {
		ps.progressRates.Insert(score / age.Seconds())
	}
}

// dropPace removes the sample of a running attempt: the rate at its last report.
func (ps *peers) dropPace(a *attemptState) {
	if at := a.progress.At(); ps.progressRates != nil && at > 0 {
		ps.progressRates.Delete(a.score / at.Seconds())
	}
}

// fill sets the facts that the policy reads; n is the number of tasks that run or have finished.
func (ps *peers) fill(facts *restart.Peers, n int) {
	if ps.durations != nil && ps.durations.Len() > 0 {
		facts.Durations = ps.durations
	}
	if ps.unitTimes != nil && ps.unitTimes.Len() > 0 {
		facts.UnitTimes = ps.unitTimes
	}
	if ps.progressRates != nil && ps.progressRates.Len() > 0 {
		facts.ProgressRates = ps.progressRates
	}
	if ps.reads.Has(rules.Scores) && n > 0 {
		facts.MeanScore = max(0, ps.scores/float64(n))
	}
	if rate := ps.workDone / ps.workTime; num.Finite(rate) { // infinite or NaN before a task with a run time has finished
		facts.Throughput = rate
	}
}
