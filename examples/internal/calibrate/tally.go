package calibrate

import (
	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"

	"github.com/straggler-go/straggler/examples/internal/sim"
)

// Deciles is into how many equal parts a distribution is divided.
const Deciles = 10

// The bases of a remaining time, as indexes.
const (
	FirstEnds = iota // progress, while fewer than three tasks of the phase have ended
	Early            // then, while fewer than one in twenty have
	Progress         // and later
	Age
	bases
)

// early reports whether few of the phase's tasks have ended: those that have may well be the quickest.
func early(p restart.Phase) bool { return 20*p.Finished < p.Tasks }

// Bases names the bases.
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

// kind is why a copy is launched.
type kind int

// The kinds of launches, as indexes.
const (
	restartedEarly kind = iota // in the place of one that was killed, while fewer than one in twenty tasks have ended
	restarted                  // and later
	beside                     // beside another while tasks wait, to use less in all
	idle                       // beside another, on a slot that would be idle
	kinds
)

// Kinds names the kinds of launches.
var Kinds = [...]string{"restart, < 5 % ended", "restart", "copy to save", "copy when idle"}

// Tally is what was seen of one or several replays.
type Tally struct {
	// Left is about t_rem, by its basis.
	Left [bases]Reliability
	// Bets are about what was launched, by [Kinds].
	Bets [kinds]Bets
	// Failing counts what is left out because the copy was to fail, as it did in the log; Unmatched the actions whose
	// facts were not seen.
	Failing, Unmatched int
}

// Add adds what another replay has shown.
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

// Reliability is about one basis of t_rem: of all reports after which there was a distribution, and of the first such
// report of each task.
type Reliability struct{ All, First Ranks }

// Ranks says where in what was predicted the truth was.
type Ranks struct {
	N int
	// Decile counts the truths in each tenth of their prediction. Each should hold a tenth of them.
	Decile [Deciles]float64
	// Predicted is the sum of the expected remaining times, and True that of the true ones, in seconds.
	Predicted, True float64
}

// sameTime is by which part of a copy's whole time a prediction may be off, and still be of that time: reports come at
// whole intervals, and trails are kept to within 1 in 4,000.
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

// rank is of one truth between two ranks of its prediction: it counts in each decile by the part between them that is
// in it. So does a truth that a distribution holds for the only possible one, in all of them alike.
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

// Off returns by how much, as a share of all, the truths below some decile of their prediction are more than they
// should be (positive: tasks end sooner than predicted) or fewer, where that is most; 0 of nothing.
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

// Bets are launches of one kind.
type Bets struct {
	N int
	// Win is the sum of the probabilities that the new copy takes less than what the other still needs, Won how many did.
	// Value is the sum of the probabilities at which the rule looked, Met in how many cases it was so.
	Win, Won, Value, Met float64
	// Sooner counts how many copies needed less than the median of their t_rem, Quicker how many new ones took less
	// than the median of t_new. Half of them should.
	Sooner, Quicker float64
	// Expected is the sum of E(t_rem) - E(t_new), Saved that of the true differences, in seconds.
	Expected, Saved float64
	// Decile counts them by the probability of winning.
	Decile [Deciles]Bin
}

// Bin are the launches whose predicted probability of winning is in one tenth.
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
