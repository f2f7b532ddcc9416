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
func (p *peers) furthest(b *book, s *taskState) float64 {
	if !p.reads.Has(rules.Scores) {
		return 0
	}
	if s.flags&finished != 0 {
		return 1
	}
	score := 0.0
	for i := s.copies; i != none; i = b.copies.all[i].next {
		score = max(score, b.copies.all[i].score)
	}
	return score
}

// finish adds the run time of an attempt that ended its task, and the work that the attempt reported.
func (p *peers) finish(seconds float64, s *taskState, w stint, done float64) {
	if p.durations != nil {
		p.durations.Insert(seconds)
	}
	work := float64(w)
	if p.unitTimes != nil && work > 0 {
		p.unitTimes.Insert(seconds / work)
	}
	if p.reads.Has(rules.Throughput) {
		if done > beyond*work || done > 0 && s.flags&knownWork == 0 {
			work = done // if totals are not known, the reported work counts, as for tasks that run
		}
		p.workDone = min(p.workDone+work, math.MaxFloat64)
		p.workTime += seconds
	}
}

// addPace adds a sample to the progress rates. An attempt of age 0 has no rate.
func (p *peers) addPace(score float64, age time.Duration) {
	if p.progressRates != nil && age > 0 {
		p.progressRates.Insert(score / age.Seconds())
	}
}

// dropPace removes the sample of a running attempt: the rate at its last report.
func (p *peers) dropPace(c *attemptState) {
	if at := c.progress.At(); p.progressRates != nil && at > 0 {
		p.progressRates.Delete(c.score / at.Seconds())
	}
}

// fill sets the facts that the policy reads; n is the number of tasks that run or have finished.
func (p *peers) fill(facts *restart.Peers, n int) {
	if p.durations != nil && p.durations.Len() > 0 {
		facts.Durations = p.durations
	}
	if p.unitTimes != nil && p.unitTimes.Len() > 0 {
		facts.UnitTimes = p.unitTimes
	}
	if p.progressRates != nil && p.progressRates.Len() > 0 {
		facts.ProgressRates = p.progressRates
	}
	if p.reads.Has(rules.Scores) && n > 0 {
		facts.MeanScore = max(0, p.scores/float64(n))
	}
	if rate := p.workDone / p.workTime; num.Finite(rate) { // infinite or NaN before a task with a run time has finished
		facts.Throughput = rate
	}
}
