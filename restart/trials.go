package restart

import (
	"math"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/num"
)

// Trials is the account of the trials of a phase. A trial is a copy or a restart that was made because a task was slow. A
// copy wins if it ends first. A restart wins if the new attempt takes less than half of what the old one would have
// taken. Every other trial that comes out is lost; then the task was long by itself.
//
// [LeastCost] reads two things from it: how probable it is that a slow task is long by itself ([Trials.Long]), and how
// much more slot time may be lost ([LeastCost] states the bound). Package tracker keeps a Trials for its phase. A host
// that keeps its own tells it of each trial that begins, wins, is lost or comes to nothing. The zero value has seen no
// trial: then there are copies, and no restarts on a guess.
type Trials struct {
	// Won and Lost count the trials that came out. They are fractions where old trials fade.
	Won, Lost float64
	// Cost is the slot time of the trials that were lost, less the slot time that the others have saved.
	Cost time.Duration
	// AtRisk is what the trials that still run will cost if all of them are lost.
	AtRisk time.Duration
	// Longest is the time of an attempt of the longest task that has lost a trial, as it was predicted. Lost trials say little
	// about tasks that take far longer. 0 means unknown: then lost trials say the same about all tasks.
	Longest time.Duration
}

const (
	// Before any trial has come out, one slow task in four is taken to be long by itself: half of a lost trial, and one and
	// a half that were won. Constants chosen on docs/worlds.md's first worlds, seeds of -set work.
	priorLost, priorWon = 0.5, 1.5
	// lostOdds is by what each lost trial of a task multiplies the odds that the task is long.
	lostOdds = 2.0
	// provenRatio is how many trials must have been won for each that was lost before attempts are killed without a copy.
	provenRatio = 2.0
	// provenTrials is how many trials must have been won before attempts are killed without a copy.
	provenTrials = 3
	// typicalPart is the quantile of t_new that counts as typical. The median may lie among slow attempts.
	typicalPart = 0.3
	// showPeriods is after how many report periods a copy has shown how fast it is.
	showPeriods = 2
	// typicalTimes is after how many typical times a copy that reports nothing is given up, and agePart after which part of
	// the age of the task, if that is longer.
	typicalTimes, agePart = 1.5, 0.25
	// WonBy is by what factor the new attempt of a restart must be shorter than the old one for the restart to win.
	WonBy = 2.0
	// paidTimes is how many typical times a trial counts at most as saved: one task that hangs must not pay for all others.
	paidTimes = 4
)

// Begin takes a trial into the account that may cost the stake.
func (t *Trials) Begin(stake time.Duration) { t.AtRisk = num.Add(t.AtRisk, stake) }

// Drop ends a trial that says nothing of its task: its machine was lost, or the phase was closed.
func (t *Trials) Drop(stake time.Duration) { t.AtRisk = max(num.Sub(t.AtRisk, stake), 0) }

// Win counts a trial that was won, and the slot time that it saved: at most four typical times of it.
func (t *Trials) Win(saved, typical time.Duration) {
	t.Won++
	t.Cost = num.Sub(t.Cost, max(min(saved, num.Times(typical, paidTimes)), 0))
}

// Lose counts a lost trial and the slot time that it cost. Whole is the time that an attempt of the task takes in all, or the
// least that it takes; 0 if neither is known.
func (t *Trials) Lose(cost, whole time.Duration) {
	t.Lost++
	t.Cost = num.Add(t.Cost, max(cost, 0))
	t.Longest = max(t.Longest, whole)
}

// Long returns the probability that a slow task is long by itself, so that a new attempt takes as long as the old one. It is
// the share of lost trials; each trial that the task itself has lost doubles the odds. Whole is the time in seconds that an
// attempt of the task takes in all, 0 if it is not known. If whole is k times [Trials.Longest], lost trials count 1/k^2 in
// that share. O(lost).
func (t *Trials) Long(lost int, whole float64) float64 {
	of, against := max(t.Lost, 0), max(t.Won, 0)+priorWon
	if longest := t.Longest.Seconds(); longest > 0 && whole > longest {
		near := longest / whole
		of *= float64(near * near)
	}
	odds := (of + priorLost) / against
	for range min(max(lost, 0), maxLost) {
		odds *= lostOdds
	}
	return odds / (1 + odds)
}

// maxLost bounds a loop; the odds are beyond all doubt by then.
const maxLost = 32

// Counts returns how many trials were won, of how many that came out, as a decision names them.
func (t *Trials) Counts() (won, tried int) { return whole(t.Won), whole(t.Won + t.Lost) }

// Typical returns what a new attempt typically takes, lag included: the quantile 0.3 of t_new.
func Typical(fresh *estimate.Fresh) time.Duration {
	d, _ := num.Duration(max(fresh.Quantile(typicalPart), 0))
	return d
}

// Patience returns how long a copy may run before it has shown whether it gains: two report periods where attempts report;
// where they are silent one and a half typical times, or a quarter of the age of the task if that is longer.
func Patience(interval, typical, age time.Duration, silent bool) time.Duration {
	if !silent {
		return num.Times(max(interval, 0), showPeriods)
	}
	return max(num.Times(typical, typicalTimes), num.Times(age, agePart))
}

// whole returns a count as a whole number, for a decision.
func whole(n float64) int {
	if !(n > 0) {
		return 0
	}
	return int(math.Round(min(n, math.MaxInt32)))
}
