package causes

import (
	"cmp"
	"math"
	"slices"

	"github.com/straggler-go/straggler/internal/enum"
)

// Reason is why members of a step wait for others. The numbers and the names of the constants will not change.
type Reason uint8

const (
	// NotEnough means that the steps do not decide why the others wait.
	NotEnough Reason = iota
	// Luck means that no worker is slow for long: now one is last, now another.
	Luck
	// SlowMachine means that the excess follows a machine from position to position.
	SlowMachine
	// SlowWorker means that one worker is slow, and its machine never changed its position: the machine or the position
	// is at fault. Exchange two workers to decide which.
	SlowWorker
	// SlowPlace means that a stage takes longer than the others, or that several machines were slow at one position.
	SlowPlace
	// UnevenWork means that the work differs: the excess follows the sizes, or the times of one replica agree in several
	// stages.
	UnevenWork
)

var reasonNames = [...]string{
	NotEnough: "not-enough", Luck: "luck", SlowMachine: "machine", SlowWorker: "worker", SlowPlace: "place",
	UnevenWork: "work",
}

// String returns the name of the reason.
func (r Reason) String() string { return enum.Name(reasonNames[:], r) }

// MarshalText returns the name of the reason, or an error for a value without a name.
func (r Reason) MarshalText() ([]byte, error) { return enum.Text(reasonNames[:], r) }

// UnmarshalText sets the reason to the one with the given name, or returns an error for an unknown name.
func (r *Reason) UnmarshalText(text []byte) error { return enum.Parse(reasonNames[:], text, r) }

// Finding is one reason of the waits. The shares of several findings overlap: the time that one saves, another may save
// as well.
type Finding struct {
	Reason Reason
	// Machine is the index of the machine, and Stage and Replica are those of the position; -1 if the finding has none.
	Machine, Stage, Replica int
	// Share is the share of the steps' time that is saved if the machine, worker or position takes the median of its
	// equals; if the stages are even, for a stage; if the members of each stage take their mean, for uneven work. Error
	// is its standard error; 0 for a single step, which has none.
	Share, Error float64
	// Times is the time by the median of the equals, the other members of its stage, at the geometric mean over the slow
	// steps; 0 for uneven work.
	Times float64
	// From and To are the first and the last slow step, counted from 0, and Ended says that it was not slow after To.
	// While is the share of the time of these steps that is saved.
	From, To int
	Ended    bool
	While    float64
	// Last is the number of steps in which the worker alone was the last, or only members of the stage; 0 for uneven work.
	Last int
}

// Lag tells how often a worker was the last of its step.
type Lag struct {
	Machine, Stage, Replica int
	// Steps is the number of steps of the worker, and Last the number of those in which it alone was the last. Steps in
	// which several were last together count for nobody. Chance is the number of the other steps in which the worker would
	// be last if all members of a step were equal.
	Steps, Last int
	Chance      float64
	// Saved is the share of the steps' time that is saved if the worker takes its equals' median. Error is its standard
	// error; 0 for a single step, which has none.
	Saved, Error float64
}

// Waiting is the result of a [Lockstep].
type Waiting struct {
	// Steps is the number of steps, and LeftOut the number of members that were left out. Tied is the number of steps in
	// which several members were last together.
	Steps, LeftOut, Tied int
	// Wait is the time of the slowest member beyond the median of its equals, the other members of its stage. Second is its
	// time beyond the next slowest member of the step. Both are shares of the steps' time.
	Wait, Second float64
	// Lags are the workers that were last at least once, the most frequent first.
	Lags []Lag
	// Findings are the reasons, the largest share first. There is at least one. If no other reason is found, it is Luck
	// or NotEnough.
	Findings []Finding
}

const (
	// leastCost is the share of the time of its slow steps that a worker must take beyond the medians to be named. This is
	// what it costs these steps if no other worker is slow.
	leastCost = 0.03
	// leastSteps is the number of slow steps from which a worker may be named.
	leastSteps = 5
	// leastEquals is the number of members of a stage from which it shows which of them is slow.
	leastEquals = 3
	// mostWrong is the mean number of workers that are named by chance in a job in which none is slow.
	mostWrong = 0.001
	// usual is the logarithm of a time by its centre that a healthy worker may have for good: 1 %.
	usual = 0.01
	// agrees is the correlation, or the share of the variance, from which sizes or replicas explain the excess.
	agrees = 0.5
	// leastPairs is the number of values from which they do.
	leastPairs = 30
	// leastMost is the number of members of a stage from which two slow ones leave most of them healthy.
	leastMost = 5
	// decisive x the noise: luck is a finding if a worker that is this much slower would have been named.
	decisive = 2
)

// Waiting returns who makes the others wait, how much it costs, and why. It takes O(w log w) for w workers. It can be
// called after any step.
func (l *Lockstep) Waiting() Waiting {
	w := Waiting{Steps: l.steps, LeftOut: l.leftOut, Tied: l.tied}
	if l.steps == 0 {
		w.Findings = []Finding{{Machine: -1, Stage: -1, Replica: -1}}
		return w
	}
	w.Wait, w.Second = l.wait/l.total, l.second/l.total
	w.Lags = l.lags()
	w.Findings = l.findings()
	return w
}

// lags lists the machines that were last; the positions, if no machine is known.
func (l *Lockstep) lags() (all []Lag) {
	add := func(s *series, machine, stage, replica int) {
		if s.lasts > 0 {
			saved, err := s.saved.of()
			all = append(all, Lag{machine, stage, replica, s.n, s.lasts, s.expected, saved, err})
		}
	}
	for i, machine := range l.machines.keys {
		stage, replica := -1, -1
		if s := &l.machines.list[i]; !s.parted {
			at := l.positions.keys[s.home]
			stage, replica = at[0], at[1]
		}
		add(&l.machines.list[i], machine, stage, replica)
	}
	if all == nil {
		for i, at := range l.positions.keys {
			add(&l.positions.list[i], -1, at[0], at[1])
		}
	}
	slices.SortStableFunc(all, func(a, b Lag) int { return cmp.Compare(b.Last, a.Last) })
	return all
}

func (l *Lockstep) findings() []Finding {
	slope, uneven := l.work()
	all, doubtful := l.slowWorkers(slope)
	if f, ok := l.slowStage(); ok {
		all = append(all, f)
	}
	if share, err := l.evened.of(); uneven && share >= leastCost {
		all = append(all, Finding{Reason: UnevenWork, Machine: -1, Stage: -1, Replica: -1, Share: share, Error: err, To: l.steps - 1})
	}
	if all == nil {
		f := Finding{Machine: -1, Stage: -1, Replica: -1, To: l.steps - 1}
		f.Share, f.Error = l.evened.of()
		n := noiseOf(l.positions.list)
		if !doubtful && n.decides(l.steps) && l.equals() >= leastEquals && !slices.ContainsFunc(l.positions.list, n.fast) {
			f.Reason = Luck
		}
		return []Finding{f}
	}
	slices.SortStableFunc(all, func(a, b Finding) int { return cmp.Compare(b.Share, a.Share) })
	return all
}

// slowWorkers returns the machines that are slow at several positions, or the positions that are slow with several
// machines, whichever have more excess, and the workers whose machine never changed its position. doubtful says that a
// worker is slow, but that its machine moved and no other position shows more.
func (l *Lockstep) slowWorkers(slope float64) (all []Finding, doubtful bool) {
	var machines, positions []Finding
	ofMachines, ofPositions := 0.0, 0.0 // the largest excess
	n := noiseOf(l.machines.list)
	for i := range l.machines.list {
		s := &l.machines.list[i]
		f, ok := n.judge(s, l.steps, slope)
		if !ok {
			continue
		}
		f.Machine, f.Stage, f.Replica = l.machines.keys[i], -1, -1
		switch at := l.positions.keys[s.home]; {
		case !s.parted:
			f.Reason, f.Stage, f.Replica = SlowWorker, at[0], at[1]
			all = append(all, f)
		case s.slow.followed():
			f.Reason = SlowMachine
			machines, ofMachines = append(machines, f), max(ofMachines, s.slow.sum)
		default:
			doubtful = true
		}
	}
	n = noiseOf(l.positions.list)
	for i := range l.positions.list {
		s := &l.positions.list[i]
		f, ok := n.judge(s, l.steps, slope)
		if !ok {
			continue
		}
		f.Machine, f.Stage, f.Replica = -1, l.positions.keys[i][0], l.positions.keys[i][1]
		switch {
		case s.home < 0: // the machine is not known
			f.Reason = SlowWorker
			all = append(all, f)
		case s.parted && s.slow.followed():
			f.Reason = SlowPlace
			positions, ofPositions = append(positions, f), max(ofPositions, s.slow.sum)
		}
	}
	if ofPositions >= ofMachines {
		machines = positions
	}
	return append(all, machines...), doubtful
}

// equals returns the number of members of the smallest stage.
func (l *Lockstep) equals() int {
	least := math.MaxInt
	for i := range l.positions.list {
		least = min(least, l.positions.list[i].equals)
	}
	return least
}

// work returns how the excess grows with the size, and whether the work of the members is uneven.
func (l *Lockstep) work() (slope float64, uneven bool) {
	slope, explains := l.size.slope()
	if uneven = explains >= agrees && l.size.n >= leastPairs; !uneven {
		slope = 0
	}
	return slope, uneven || l.replicas.correlation() >= agrees && l.replicas.pairs >= leastPairs
}

// slowStage returns the stage that takes longer than the others, if the steps mostly wait for it.
func (l *Lockstep) slowStage() (Finding, bool) {
	for i := range l.stages.list {
		s := &l.stages.list[i]
		mean := s.sum / float64(s.n)
		variance := max(s.squares/float64(s.n)-float64(mean*mean), 0)
		correlation := 0.0
		if s.pairs > 0 && variance > 0 {
			correlation = min(max((s.lagged/float64(s.pairs)-float64(mean*mean))/variance, 0), mostCorrelation)
		}
		bar := limit(len(l.stages.list), 1) * errorOfMean(variance, correlation, s.n)
		share, err := l.level.of()
		if s.n >= leastSteps && mean > max(bar, leastCost) && 2*s.lasts >= s.n && share >= leastCost {
			return Finding{Reason: SlowPlace, Machine: -1, Stage: l.stages.keys[i], Replica: -1, Share: share, Error: err,
				Times: math.Exp(mean), To: l.steps - 1, While: share, Last: s.lasts}, true
		}
	}
	return Finding{}, false
}

// noise is the noise of the workers: the median of their variances, and of their correlations. A few slow workers do not
// change medians.
type noise struct {
	variance, correlation float64
	workers               int
}

func noiseOf(all []series) noise {
	variances, correlations := make([]float64, len(all)), make([]float64, len(all))
	for i := range all {
		variances[i], correlations[i] = all[i].noise()
	}
	return noise{Median(variances), Median(correlations), len(all)}
}

// limit returns how many standard errors a worker must be slow, if so many workers and stretches are looked at.
func limit(workers int, stretches float64) float64 {
	return math.Sqrt(2 * math.Log(max(float64(workers)*stretches/mostWrong, math.E)))
}

// judge returns a finding about a worker if it is slow beyond chance, and if it costs enough.
func (n noise) judge(s *series, steps int, slope float64) (Finding, bool) {
	r := &s.slow
	if r.n < leastSteps || s.equals < leastEquals {
		return Finding{}, false
	}
	mean := (r.sum - float64(slope*r.bulk)) / float64(r.n)
	own := n.variance * (1 + 2/float64(s.equals))
	bar := usual + float64(limit(n.workers, float64(steps)/float64(r.n))*errorOfMean(own, n.correlation, r.n))
	if mean < bar || !(r.beyond >= leastCost*r.slowest) {
		return Finding{}, false
	}
	f := Finding{
		Times: math.Exp((r.times - float64(slope*r.bulk)) / float64(r.n)), From: r.from, To: r.to, Ended: s.lastStep-r.to >= leastSteps,
		While: r.saved / r.slowest, Last: s.lasts,
	}
	f.Share, f.Error = s.saved.of()
	return f, true
}

// fast reports whether a position takes less time than its equals for good, in a stage so small that the others may be the
// slow ones.
func (n noise) fast(s series) bool {
	mean := s.sum / float64(s.n)
	return s.equals < leastMost && -mean >= max(leastCost, limit(n.workers, 1)*errorOfMean(n.variance, n.correlation, s.n))
}

// decides reports whether a worker that is slower by twice the noise would be found in so many steps.
func (n noise) decides(steps int) bool {
	return steps >= leastSteps && limit(n.workers, 1)*errorOfMean(n.variance, n.correlation, steps) <= decisive*math.Sqrt(n.variance)
}
