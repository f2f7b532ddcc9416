package estimate

import (
	"math"

	"github.com/straggler-go/straggler/internal/num"
)

// UnitTimes learns processRate, the time that a unit of work takes, from the tasks of one phase [Mantri §5.5]: from
// finished copies by their whole time, and, because the paper says "all the tasks in this phase", from running ones by
// the whole time that their progress so far implies. Copies that failed are no samples; of those that were killed, see
// [UnitTimes.Kill]. (The paper calls it a rate; it is seconds per unit, and the rate of [Progress.Rate] is units per
// second.)
//
// It is a [Distribution] in seconds per unit of the work that counts, [UnitTimes.Work]: of its samples once there are
// MinSamples of them; of Prior before that; and of a time that never comes if there is no Prior either.
//
// An update takes O(log n) amortised. After as many updates as there were samples the overhead is fitted again, and if
// it has moved, the samples are sorted again: that single update takes O(n log n), half a second for a million
// samples. An update does not allocate once the phase has reached its size. A sample needs 40 bytes.
//
// Not safe for concurrent use; one per phase.
type UnitTimes struct {
	config   UnitTimesConfig
	all      Empirical // of the samples
	samples  []unitSample
	origin   origins // of the samples
	free     []int32 // places in samples
	first    []int32 // places of finished samples of the first wave
	overhead float64
	stale    int // updates since the overhead was fitted
	fitted   int // samples that it was fitted to
}

type unitSample struct{ seconds, work, unitTime float64 } // unitTime as it stands in all; negative if the place is free

// NewUnitTimes returns an empty UnitTimes, or an error that names the field that is out of range.
func NewUnitTimes(c UnitTimesConfig) (*UnitTimes, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return &UnitTimes{config: c.Effective()}, nil
}

// Config returns the configuration with its defaults filled in.
func (u *UnitTimes) Config() UnitTimesConfig { return u.config }

// Overhead returns the constant part of a task's time, in units of work: the work that every task has on top of its
// own. Equation 3 is proportional to the work alone, so where a task's time hardly depends on its bytes it promises
// that every task with few bytes would be quick to run again, and all of these would be restarted. The overhead is
// fitted by least squares of the relative error, without the samples that take over 1.5 times what the fit gives
// them. It is 0 until 8 samples are there, and where all tasks have the same work.
//
// A fit that would move a mean task's work by less than a twentieth is dropped. Even so a fit to few samples is
// unsteady: with ten tasks, about one fit in ten moves the time that a small task is promised by over a tenth; with a
// hundred, none does once their reports have settled. FixedOverhead is steadier, where it is right.
func (u *UnitTimes) Overhead() float64 { return u.overhead }

// Work returns the work that counts for a task of the given work: at least Floor, plus the overhead.
func (u *UnitTimes) Work(work float64) float64 { return max(work, u.config.Floor) + u.overhead }

// NoSample is the id of no sample.
const NoSample = -1

// Running records, or refreshes, the sample of a running copy: the time that it will have taken in all, by its progress
// so far. The first time, id is [NoSample]; Running returns what to pass as id from then on. A copy that makes no
// sample contributes nothing: one that has done nothing, whose age or work is negative, whose work is not finite or
// does not count because it is 0 without a Floor, or that takes over [MaxSample] seconds a unit.
func (u *UnitTimes) Running(id int, r Run) int {
	if !(r.Done > 0) {
		u.Drop(id)
		return NoSample
	}
	return u.put(id, r.Age.Seconds()/min(r.Done/r.Work, 1), r)
}

// Kill records a copy that was killed; id is that of its sample while it ran, or [NoSample]. It returns the id of what
// stays, which the host may pass to [UnitTimes.Repeat] when another copy of the task has ended, and to Drop.
//
// A killed copy has taken at least its age, and that is all that is certain; it was killed because its progress implied
// far more. Its sample stays what its progress implied, on an average machine. Two other readings were tried in worlds
// whose truth is known (the tests of machines have them), of 400 tasks of 20 s on ten machines: to count the copy with
// its age alone, and to drop it. The last column is the first without Factors, where the bad machine poisons the phase.
//
//	                                   E(t_new) in seconds, and copies killed
//	world                       truth  implied  by age    dropped  no Factors
//	one machine 8 times slower     20  21    3  14  582   21    3   71  225
//	a twentieth of copies 4x       23  23   19  20   23   21   19   23   19
//	both                           23  23   23  12  823   21   24   85  250
//	a tenth of tasks 5x longer     28  28  113  22  114   28  113   28  113
//	copies that start slowly       20  25  556   9 1173   22 1007   25  445
//
// Where a rule is mistaken about copies, as in the last world, each mistake that is forgotten, or counts as a short
// run, keeps t_new short and leads to the next; what the copies implied lengthens t_new until the mistakes become
// rarer. The price is a t_new that is too long there, by a quarter.
//
// A copy without progress counts with its age, if that is more than the mean, and not at all otherwise.
func (u *UnitTimes) Kill(id int, r Run) int {
	if r.Done > 0 {
		return u.Running(id, r)
	}
	u.Drop(id)
	seconds := r.Age.Seconds()
	if u.all.Len() == 0 || !(seconds > u.Work(r.Work)*u.scale(r)*u.all.Mean()) {
		return NoSample
	}
	return u.put(NoSample, seconds, r)
}

// Repeat tells what another copy of a killed copy's task has taken since: r is one that finished, or that was killed in
// turn. If it took about as long, on an average machine, as the killed one would have, then it is the task that is
// long, and not the copy; the task is a sample by its other copy, and the killed one's sample goes. So a task that is
// restarted three times does not count four times. It reports whether the sample went.
func (u *UnitTimes) Repeat(killed int, r Run) bool {
	if !u.holds(killed) {
		return false
	}
	took := r.Age.Seconds() / u.Work(r.Work) / u.scale(r)
	if r.Done > 0 {
		took /= min(r.Done/r.Work, 1)
	}
	if !(took*trimmed >= u.samples[killed].unitTime) {
		return false
	}
	u.Drop(killed)
	return true
}

// Finish records the time that a copy took which finished; id is that of its sample while it ran, or [NoSample]. It
// reports whether that made a sample.
func (u *UnitTimes) Finish(id int, r Run) bool {
	if id = u.put(id, r.Age.Seconds(), r); id == NoSample {
		return false
	}
	switch {
	case u.config.KeepFirstWave:
	case r.FirstWave:
		u.first = append(u.first, int32(id))
	case len(u.first) > 0:
		last := len(u.first) - 1
		u.Drop(int(u.first[last]))
		u.first = u.first[:last]
	}
	return true
}

// Drop takes away the sample of a copy that failed; an id that is not in use changes nothing.
func (u *UnitTimes) Drop(id int) {
	if !u.holds(id) {
		return
	}
	u.all.Delete(u.samples[id].unitTime)
	u.samples[id].unitTime = -1
	u.free = append(u.free, int32(id))
	u.origin.leave(id)
}

// holds reports whether an id is in use.
func (u *UnitTimes) holds(id int) bool {
	return id >= 0 && id < len(u.samples) && u.samples[id].unitTime >= 0
}

// scale returns how many times longer than the average one a copy takes for the place where it runs.
func (u *UnitTimes) scale(r Run) float64 {
	scale := 1.
	if r.Path > 0 && num.Finite(r.Path) {
		scale = r.Path
	}
	return scale * u.origin.factor(u.config.Factors, r.Machine)
}

// put takes a sample in, the seconds that a copy takes as a whole, in the place of the one with the given id, if any.
func (u *UnitTimes) put(id int, seconds float64, r Run) int {
	counts := max(r.Work, u.config.Floor)
	if r.Path > 0 && num.Finite(r.Path) {
		seconds /= r.Path
	}
	// It must be a sample without any overhead as well: the overhead may fall to 0.
	if !(r.Work >= 0) || !num.Finite(r.Work) || counts == 0 || !(seconds <= MaxSample*counts) {
		u.Drop(id)
		return NoSample
	}
	unitTime, factor := seconds, 1.
	if u.config.Factors != nil {
		factor = u.origin.factor(u.config.Factors, r.Machine)
		unitTime /= factor
	}
	unitTime /= u.Work(r.Work)
	if u.isNear(id, unitTime) && u.all.replace(u.samples[id].unitTime, unitTime) {
		u.origin.leave(id)
	} else {
		u.Drop(id)
		if !u.all.Insert(unitTime) {
			return NoSample
		}
		id = u.place()
	}
	u.samples[id] = unitSample{seconds, r.Work, unitTime}
	if u.config.Factors != nil {
		u.origin.join(id, r.Machine, factor)
	}
	u.settle()
	return id
}

// isNear reports whether a sample's value is so near to a new one that both probably stand in one leaf of the tree: to
// look there costs half as much as to take one out and put the other in, and is lost where they do not.
func (u *UnitTimes) isNear(id int, unitTime float64) bool {
	return u.holds(id) && math.Abs(unitTime-u.samples[id].unitTime) <= unitTime/64
}

// place returns a free place in samples.
func (u *UnitTimes) place() int {
	if n := len(u.free); n > 0 {
		id := int(u.free[n-1])
		u.free = u.free[:n-1]
		return id
	}
	u.samples = append(u.samples, unitSample{})
	return len(u.samples) - 1
}

// settle fits the overhead, or only divides by the factors of the machines again, if enough has changed. A fit walks
// over the free places too: where most are free, it must be rarer than the samples are many.
func (u *UnitTimes) settle() {
	switch u.stale++; {
	case u.stale >= max(u.fitted, leastFit, len(u.samples)/4) && !u.config.FixedOverhead:
		u.fit()
	case u.origin.moved(len(u.samples)):
		u.rebuild()
	}
}
