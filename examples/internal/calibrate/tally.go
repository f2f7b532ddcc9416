package calibrate

import (
	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"

	"github.com/straggler-go/straggler/examples/internal/sim"
)

// Deciles is the number of equal parts into which a predicted distribution is divided.
const Deciles = 10

// The bases of a remaining time (t_rem), as indexes.
const (
	FirstEnds = iota // by progress, while fewer than three tasks of the phase have ended
	Early            // by progress, while three or more, but fewer than one in twenty, have ended
	Progress         // by progress, later
	Age
	bases
)

// early reports whether fewer than one in twenty tasks of the phase have ended. The tasks that have ended then may be
// the fastest.
func early(p restart.Phase) bool { return 20*p.Finished < p.Tasks }

// Bases has the names of the bases.
var Bases = [...]string{
	FirstEnds: "progress, < 3 ends", Early: "progress, < 5 % ended", Progress: "progress", Age: "age",
}

func basisOf(basis restart.Basis, p restart.Phase) int {
	switch {
	case basis == restart.ByAge:
		return Age
	case p.Finished < 3:
		return FirstEnds
	case early(p):
		return Early
	}
	return Progress
}

// kind is a kind of launch: a new attempt after a restart, or a copy.
type kind int

// The kinds of launches, as indexes.
const (
	restartedEarly kind = iota // after a restart, while fewer than one in twenty tasks have ended
	restarted                  // after a restart, later
	beside                     // a copy while tasks wait, to use less slot time
	idle                       // a copy on a slot that would be idle
	kinds
)

// Kinds has the names of the kinds of launches.
var Kinds = [...]string{"restart, < 5 % ended", "restart", "copy to save", "copy when idle"}

// Tally compares predictions with the truth, over one or several replays.
type Tally struct {
	// Left compares the predictions of the remaining time (t_rem), by their basis.
	Left [bases]Reliability
	// Bets compares the predictions for launches, by [Kinds].
	Bets [kinds]Bets
	// Failing is the number of reports that are left out because the attempt will fail, as it did in the log.
	// Unmatched is the number of actions that are left out because their facts were not recorded.
	Failing, Unmatched int
}

// Add adds the counts of another replay.
func (t *Tally) Add(u Tally) {
	for i := range t.Left {
		t.Left[i].All.add(u.Left[i].All)
		t.Left[i].First.add(u.Left[i].First)
	}
	for i := range t.Bets {
		t.Bets[i].add(u.Bets[i])
	}
	t.Failing += u.Failing
	t.Unmatched += u.Unmatched
}

// Reliability compares the predictions of t_rem with one basis. All has all reports with a prediction, and First the
// first such report of each task.
type Reliability struct{ All, First Ranks }

// Ranks counts where the true remaining times were in their predicted distributions.
type Ranks struct {
	N int
	// Decile counts the true times in each tenth of their predicted distribution. With right predictions, each tenth
	// has a tenth of them.
	Decile [Deciles]float64
	// Predicted is the sum of the predicted mean remaining times, and True the sum of the true remaining times, in
	// seconds.
	Predicted, True float64
}

// sameTime is a tolerance, as a share of the whole time of an attempt: a prediction within it is exact. Reports come
// at whole intervals, and the tracker rounds progress to 1 in 4,000.
const sameTime = 0.005

func (r *Reliability) look(left estimate.Distribution, c sim.Running, first bool) {
	whole := (c.Age + c.Left).Seconds()
	x := c.Left.Seconds()
	low, high := left.CDF(x-sameTime*whole), left.CDF(x+sameTime*whole)
	r.All.add(rank(low, high, left.Mean(), x))
	if first {
		r.First.add(rank(low, high, left.Mean(), x))
	}
}

// rank returns the counts for one true time that lies between two ranks of its prediction. The time is divided over
// the deciles between these ranks, in proportion. If the prediction has only one possible time, and it is right, the
// ranks are 0 and 1, so all deciles get the same part.
func rank(low, high, predicted, truth float64) Ranks {
	r := Ranks{N: 1, Predicted: predicted, True: truth}
	low = min(max(low, 0), 1)
	high = min(max(high, low), 1)
	if high-low < 1e-9 {
		r.Decile[min(int(low*Deciles), Deciles-1)] = 1
		return r
	}
	for i := range r.Decile {
		from, to := max(low, float64(i)/Deciles), min(high, float64(i+1)/Deciles)
		r.Decile[i] = max(0, to-from) / (high - low)
	}
	return r
}

func (r *Ranks) add(s Ranks) {
	r.N += s.N
	for i := range r.Decile {
		r.Decile[i] += s.Decile[i]
	}
	r.Predicted += s.Predicted
	r.True += s.True
}

// Off returns the largest error of the predictions, as a share of all cases. For each tenth of the distribution, it
// compares the number of true times below its end with the right number. A positive error means that tasks end sooner
// than predicted. It is 0 for no cases.
func (r *Ranks) Off() (worst float64) {
	if r.N == 0 {
		return 0
	}
	sum := 0.0
	for i := range Deciles - 1 {
		sum += r.Decile[i] / float64(r.N)
		if off := sum - float64(i+1)/Deciles; max(off, -off) > max(worst, -worst) {
			worst = off
		}
	}
	return worst
}

// Bets compares the predictions for launches of one kind with the truth.
type Bets struct {
	N int
	// Win is the sum of the predicted probabilities that the new attempt takes less than the old attempt still needs,
	// and Won is the number of launches in which it did. Value is the sum of the probabilities that the rule
	// compared, and Met is the number of cases in which the event happened.
	Win, Won, Value, Met float64
	// Sooner is the number of old attempts that needed less than the median of their t_rem. Quicker is the number of
	// new attempts that took less than the median of t_new. With right predictions, each is half of the launches.
	Sooner, Quicker float64
	// Expected is the sum of the predicted gains E(t_rem) - E(t_new), and Saved the sum of the true gains, in
	// seconds.
	Expected, Saved float64
	// Decile divides the launches by the predicted probability to win.
	Decile [Deciles]Bin
}

// Bin has the launches with a predicted probability to win in one tenth of the range from 0 to 1.
type Bin struct {
	N        int
	Win, Won float64
}

func (b *Bets) settle(of bet, takes float64) {
	won, met := 0.0, 0.0
	if takes < of.left {
		won = 1
	}
	if of.share > 0 && takes < of.left*of.share || of.share == 0 && of.left > of.bar {
		met = 1
	}
	if of.left < of.medians[0] {
		b.Sooner++
	}
	if takes < of.medians[1] {
		b.Quicker++
	}
	b.N++
	b.Win += of.win
	b.Won += won
	b.Value += of.value
	b.Met += met
	b.Expected += of.expected
	b.Saved += of.left - takes
	bin := &b.Decile[min(int(of.win*Deciles), Deciles-1)]
	bin.N++
	bin.Win += of.win
	bin.Won += won
}

func (b *Bets) add(c Bets) {
	b.N += c.N
	b.Win += c.Win
	b.Won += c.Won
	b.Value += c.Value
	b.Met += c.Met
	b.Sooner += c.Sooner
	b.Quicker += c.Quicker
	b.Expected += c.Expected
	b.Saved += c.Saved
	for i := range b.Decile {
		b.Decile[i].N += c.Decile[i].N
		b.Decile[i].Win += c.Decile[i].Win
		b.Decile[i].Won += c.Decile[i].Won
	}
}
