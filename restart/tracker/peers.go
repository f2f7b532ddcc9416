package tracker

import (
	"math"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
)

// peers contains statistics of all tasks of the phase, which the rules of other engines read: Spark, Flink, Hadoop,
// LATE and Dryad. It computes only the statistics that the policy reads, so that other policies cost no time.
type peers struct {
	reads rules.Facts

	scores   float64 // sum of the scores of all tasks: of the furthest attempt of a running task; 1 for a finished task
	workDone float64 // work of the finished tasks
	workTime float64 // run time of the finished tasks in seconds

	// The distributions below are nil if the policy does not read them.
	durations     *estimate.Empirical // run times of finished tasks
	unitTimes     *estimate.Empirical // run times of finished tasks per unit of work
	progressRates *estimate.Empirical // score divided by age of running and finished tasks, for LATE
}

// newPeers returns empty statistics for a policy that reads the given facts.
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

// addScore adds a change to the sum of the scores of all tasks: the score of a task was before, and is score now.
func (ps *peers) addScore(before, score float64) {
	if ps.reads.Has(rules.Scores) {
		ps.scores += score - before
	}
}

// finish adds a task that has ended with success: the run time of the attempt that ended it, and the work that this
// attempt had to do. Done is the work that the attempt has reported. If the work of the task is not known, the task
// has no time for a unit of work, and its reported work is used for the throughput. The result is what finish has added.
func (ps *peers) finish(seconds float64, w stint, known bool, done float64) figures {
	added := figures{seconds: seconds, perUnit: -1}
	if ps.durations != nil {
		ps.durations.Insert(seconds)
	}
	work := float64(w)
	if ps.unitTimes != nil && known && work > 0 {
		added.perUnit = seconds / work
		ps.unitTimes.Insert(added.perUnit)
	}
	if ps.reads.Has(rules.Throughput) && (known || done > 0) {
		if done > overWork*work || !known {
			work = done // the work of the task is unknown or wrong, so use the reported work
		}
		added.work = work
		ps.workDone = min(ps.workDone+work, math.MaxFloat64)
		ps.workTime += seconds
	}
	return added
}

// figures is what an attempt that has ended its task has added to the statistics.
type figures struct {
	seconds float64 // its run time
	perUnit float64 // its time for a unit of work; negative if it has added none
	work    float64 // the work that it has added to the throughput
}

// forget removes from the statistics what an attempt has added to them. Last says that no other attempt is left, so that
// rounding errors do not last.
func (ps *peers) forget(added figures, last bool) {
	if ps.durations != nil {
		ps.durations.Delete(added.seconds)
	}
	if ps.unitTimes != nil && added.perUnit >= 0 {
		ps.unitTimes.Delete(added.perUnit)
	}
	ps.dropPace(1, time.Duration(added.seconds*float64(time.Second)))
	if ps.reads.Has(rules.Throughput) {
		ps.workDone, ps.workTime = max(ps.workDone-added.work, 0), max(ps.workTime-added.seconds, 0)
	}
	if last {
		ps.workDone, ps.workTime = 0, 0
	}
}

// addPace adds the progress rate of an attempt: its score divided by its age. An attempt of age 0 has no rate.
func (ps *peers) addPace(score float64, age time.Duration) {
	if ps.progressRates != nil && age > 0 {
		ps.progressRates.Insert(score / age.Seconds())
	}
}

// dropPace removes the progress rate of a running attempt. This rate was added at the attempt's last report: its score,
// and its age at that report.
func (ps *peers) dropPace(score float64, at time.Duration) {
	if ps.progressRates != nil && at > 0 {
		ps.progressRates.Delete(score / at.Seconds())
	}
}

// fill sets in facts the statistics that the policy reads. n is the number of tasks that run or have finished.
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
