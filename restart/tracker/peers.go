package tracker

import (
	"math"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
)

// peers keeps what the engines' rules compare a task with. Only what the policy reads is kept: the others do not pay.
type peers struct {
	reads rules.Description

	scores   float64 // sum over tasks that run or have finished, each counting its furthest copy, or 1
	workDone float64 // by finished tasks
	workTime float64 // their run time in seconds

	durations     estimate.Empirical // of finished tasks
	finishedRates estimate.Empirical // their time per unit of work
	progressRates estimate.Empirical // LATE's score/age, of running and finished
	machineTotals totals             // LATE's total progress by machine
	machineTotal  []float64
}

func newPeers(reads rules.Description, machines int) peers {
	p := peers{reads: reads}
	if reads.Has(rules.Machines) {
		p.machineTotals.idle = machines
	}
	return p
}

// grow makes room for the totals of so many machines.
func (p *peers) grow(machines int) {
	if !p.reads.Has(rules.Machines) {
		return
	}
	for len(p.machineTotal) < machines {
		p.machineTotal = append(p.machineTotal, 0)
		p.machineTotals.appear()
	}
}

// totals are the total progress of all machines, also of those of which nothing was heard yet: these have done nothing,
// and are only counted.
type totals struct {
	heard estimate.Empirical
	idle  int
}

// appear takes note that one more machine was heard of.
func (t *totals) appear() {
	t.heard.Insert(0)
	t.idle = max(t.idle-1, 0)
}

func (t *totals) exchange(from, to float64) {
	t.heard.Delete(from)
	t.heard.Insert(to)
}

func (t *totals) Len() int { return t.heard.Len() + t.idle }

func (t *totals) Mean() float64 { return t.heard.Mean() * (float64(t.heard.Len()) / float64(t.Len())) }

func (t *totals) CDF(x float64) float64 {
	if x < 0 || t.Len() == 0 {
		return 0
	}
	below := t.idle + t.heard.Rank(math.Nextafter(x, math.Inf(1)))
	return float64(below) / float64(t.Len())
}

// Quantile is that of all values, of which the idle ones, which are 0, come first.
func (t *totals) Quantile(p float64) float64 {
	of := min(max(p, 0), 1) * float64(t.Len())
	i := max(int(math.Ceil(of-float64(of*0x1p-52)))-1, 0) // p = k/n is the k-th of n values, though p*n may be just above k
	if i < t.idle {
		return 0
	}
	return t.heard.At(i - t.idle)
}

// finish takes in the run time of a copy that ended its task, and what it had reported as done.
func (p *peers) finish(seconds float64, s *taskState, done float64) {
	if p.reads.Has(rules.Durations) {
		p.durations.Insert(seconds)
	}
	if p.reads.Has(rules.UnitTimes) && s.work > 0 {
		p.finishedRates.Insert(seconds / s.work)
	}
	if p.reads.Has(rules.Throughput) {
		work := s.work
		if done > beyond*work || done > 0 && s.flags&knownWork == 0 {
			work = done // without totals, what was reported counts, as it does of the tasks that run
		}
		p.workDone = min(p.workDone+work, math.MaxFloat64)
		p.workTime += seconds
	}
}

// addPace adds a sample to the progress rates. At the age of 0 there is no rate.
func (p *peers) addPace(score float64, age time.Duration) {
	if p.reads.Has(rules.ProgressRates) && age > 0 {
		p.progressRates.Insert(score / age.Seconds())
	}
}

// dropPace takes the sample of a running copy away: it is that of the score and the age of its last report.
func (p *peers) dropPace(c *copyState) {
	if at := c.progress.At(); p.reads.Has(rules.ProgressRates) && at > 0 {
		p.progressRates.Delete(c.score / at.Seconds())
	}
}

// addMachine exchanges a copy's score in its machine's total. The paper's total is of tasks that run or have succeeded,
// so that of a copy that ends otherwise goes. Scores count in steps of 2^-24, which makes their sums exact: machines
// that have done the same compare equal, whatever the order of their reports.
func (p *peers) addMachine(c *copyState, score float64) {
	gain := step(score) - step(c.score)
	if gain == 0 || c.machine == none || int(c.machine) >= len(p.machineTotal) {
		return
	}
	total := &p.machineTotal[c.machine]
	p.machineTotals.exchange(*total, *total+gain)
	*total += gain
}

func step(score float64) float64 { return float64(math.Round(score*(1<<24)) / (1 << 24)) }

// fill sets what the policy reads; n is the number of tasks that run or have finished.
func (p *peers) fill(facts *restart.Peers, n int) {
	if p.reads.Has(rules.Durations) && p.durations.Len() > 0 {
		facts.Durations = &p.durations
	}
	if p.reads.Has(rules.UnitTimes) && p.finishedRates.Len() > 0 {
		facts.UnitTimes = &p.finishedRates
	}
	if p.reads.Has(rules.ProgressRates) && p.progressRates.Len() > 0 {
		facts.ProgressRates = &p.progressRates
	}
	if p.reads.Has(rules.Scores) && n > 0 {
		facts.MeanScore = max(0, p.scores/float64(n))
	}
	if rate := p.workDone / p.workTime; num.Finite(rate) { // not before a task with a time has finished
		facts.Throughput = rate
	}
}

// asking describes the machine that asks for work: by what it did in the cluster if that is known, else in this phase.
func (p *peers) asking(machine int, place int32, record MachineRecord) (m restart.MachineProgress) {
	switch {
	case !p.reads.Has(rules.Machines) || machine < 0:
	case record != nil:
		if total, of := record.Progress(machine); of != nil && of.Len() > 0 {
			m.Total, m.Of = total, of
		}
	case p.machineTotals.Len() > 0:
		m.Of = &p.machineTotals
		if place != none {
			m.Total = p.machineTotal[place]
		}
	}
	return m
}
