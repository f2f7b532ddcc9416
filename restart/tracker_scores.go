package restart

import (
	"math"
	"time"
)

// The sums over progress scores that LATE and Hadoop compare with. A policy that does not read them does not pay.

// furthest returns what a task adds to the sum of scores: 1 if it has finished, the score of its furthest running copy
// otherwise, and 0 if no policy asks.
func (t *Tracker) furthest(s *taskState) float64 {
	if t.needs&needScores == 0 {
		return 0
	}
	if s.flags&finished != 0 {
		return 1
	}
	score := 0.0
	for i := s.copies; i != none; i = t.copies[i].next {
		score = max(score, t.copies[i].score)
	}
	return score
}

// setScore takes a copy's progress score into the mean score and its machine's total.
func (t *Tracker) setScore(s *taskState, c *copyState, score float64) {
	before := t.furthest(s)
	t.addMachine(c, score)
	c.score = score
	t.scores += t.furthest(s) - before
}

// addPace adds a sample to the progress rates. At the age of 0 there is no rate.
func (t *Tracker) addPace(score float64, age time.Duration) {
	if t.needs&needProgressRates != 0 && age > 0 {
		t.progressRates.Insert(score / age.Seconds())
	}
}

// dropPace takes the sample of a running copy away: it is that of the score and the age of its last report.
func (t *Tracker) dropPace(c *copyState) {
	if at := c.progress.At(); t.needs&needProgressRates != 0 && at > 0 {
		t.progressRates.Delete(c.score / at.Seconds())
	}
}

// addMachine exchanges a copy's score in its machine's total. The paper's total is of tasks that run or have succeeded,
// so that of a copy that ends otherwise goes. Scores count in steps of 2^-24, which makes their sums exact: machines that
// have done the same compare equal, whatever the order of their reports.
func (t *Tracker) addMachine(c *copyState, score float64) {
	gain := step(score) - step(c.score)
	if gain == 0 || c.machine < 0 || int(c.machine) >= len(t.machineTotal) {
		return
	}
	total := &t.machineTotal[c.machine]
	t.machineTotals.Delete(*total)
	*total += gain
	t.machineTotals.Insert(*total)
}

func step(score float64) float64 { return float64(math.Round(score*(1<<24)) / (1 << 24)) }
