package restart

import "time"

// The sums over progress scores that LATE and Hadoop compare with. A policy that does not read them does not pay.

// startScore counts a task that has started, with the score 0.
func (t *Tracker) startScore(s *taskState) {
	if s.flags&started == 0 {
		s.flags |= started
		t.scored++
	}
}

// setScore takes a copy's progress score into the mean score, the progress rates and its machine's total.
func (t *Tracker) setScore(s *taskState, c *copyState, score float64, age time.Duration) {
	if t.needs&(needScores|needProgressRates|needMachines) == 0 {
		c.score = score
		return
	}
	if score > s.score {
		t.scores += score - s.score
		s.score = score
	}
	t.addMachine(c.machine, score-c.score)
	c.score = score
	if age > 0 {
		t.setPace(c, score/age.Seconds())
	}
}

// finishScore takes the score of a finished copy as 1.
func (t *Tracker) finishScore(s *taskState, c *copyState, age time.Duration) {
	t.setScore(s, c, 1, age)
}

// loseScore takes a task whose output is lost back to the score 0. Its rate stays a sample: it was real.
func (t *Tracker) loseScore(s *taskState) {
	t.scores -= s.score
	s.score = 0
}

// setPace exchanges a copy's sample among the progress rates.
func (t *Tracker) setPace(c *copyState, pace float64) {
	if t.needs&needProgressRates == 0 || pace == c.pace {
		return
	}
	t.clearPace(c)
	if t.progressRates.Insert(pace) {
		c.pace = pace
	}
}

func (t *Tracker) clearPace(c *copyState) {
	if c.pace >= 0 {
		t.progressRates.Delete(c.pace)
		c.pace = -1
	}
}

// addMachine adds to a machine's total of progress.
func (t *Tracker) addMachine(machine int32, gain float64) {
	if gain == 0 || machine < 0 || int(machine) >= len(t.machineTotal) {
		return
	}
	t.machineTotals.Delete(t.machineTotal[machine])
	t.machineTotal[machine] = max(0, t.machineTotal[machine]+gain)
	t.machineTotals.Insert(t.machineTotal[machine])
}
