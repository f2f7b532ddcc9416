package estimate

import (
	"math"

	"github.com/straggler-go/straggler/internal/num"
)

// UnitTimes learns processRate, the time for one unit of work, from the tasks of one phase [Mantri §5.5]. A
// finished attempt is a sample by its whole time. A running attempt is a sample by the whole time that its progress
// so far implies. The paper says "all the tasks in this phase", which includes running tasks. A failed attempt is
// no sample. For a killed attempt, see [UnitTimes.Kill]. (The paper calls processRate a rate, but the unit is
// seconds per unit of work. [Progress.Rate] is a rate, in units of work per second.)
//
// UnitTimes is a [Distribution] in seconds per unit of work. The units of a task are [UnitTimes.Work], which
// includes the overhead. With at least MinSamples samples it describes the samples. With fewer it describes the
// Prior, or a time that never comes if there is no Prior.
//
// An update takes O(log n) amortised. After as many updates as there were samples, the overhead is fitted again. If
// the overhead has changed, the samples are sorted again: this single update takes O(n log n), half a second for a
// million samples. An update does not allocate once the phase has reached its size. A sample needs 40 bytes.
//
// Not safe for concurrent use: each phase needs a separate value.
type UnitTimes struct {
	config   UnitTimesConfig
	all      Empirical // the unit times of the samples
	samples  []unitSample
	origin   origins // the machines of the samples
	free     []int32 // indexes in samples that are free
	first    []int32 // indexes of finished samples of the first wave
	overhead float64
	stale    int // updates since the last fit of the overhead
	fitted   int // samples at the last fit
}

// unitSample is a sample. unitTime is the value that stands in UnitTimes.all; a free place has a negative unitTime.
type unitSample struct{ seconds, work, unitTime float64 }

// NewUnitTimes returns an empty UnitTimes, or an error that names the field out of range.
func NewUnitTimes(c UnitTimesConfig) (*UnitTimes, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return &UnitTimes{config: c.Effective()}, nil
}

// Config returns the configuration with its defaults filled in.
func (u *UnitTimes) Config() UnitTimesConfig { return u.config }

// Overhead returns the constant part of a task's time, in units of work: each task takes this much work in addition
// to its own.
//
// Equation 3 is proportional to the work alone. If the time of tasks hardly depends on their bytes, the equation is
// wrong for small tasks: it promises that a new attempt of each small task would be quick. A scheduler would then
// restart all small tasks. The overhead prevents such restarts. The overhead is fitted by least squares of the
// relative error, without the samples that take over 1.5 times their fitted time. The overhead is 0 with fewer than
// 8 samples, and if all tasks have equal work.
//
// A fit that would change a mean task's work by less than a twentieth is dropped. An overhead that is fitted to few
// samples is unsteady. With ten tasks, about one fit in ten changes the promised time of a small task by over a
// tenth. With a hundred tasks, no fit does so after their reports have settled. FixedOverhead is steadier if it
// suits the phase.
func (u *UnitTimes) Overhead() float64 { return u.overhead }

// Work returns the work that counts for a task of the given work: at least Floor, plus the overhead.
func (u *UnitTimes) Work(work float64) float64 { return max(work, u.config.Floor) + u.overhead }

// NoSample is the id of an attempt without a sample.
const NoSample = -1

// Running records or refreshes the sample of a running attempt: the whole time that its progress so far implies.
// The first time, id is [NoSample]. Running returns the id to pass the next time. These attempts make no sample,
// and Running returns NoSample for them:
//
//   - an attempt that has done nothing
//   - an attempt of negative age or negative work
//   - an attempt of work that is not finite, or that is 0 without a Floor
//   - an attempt that takes over [MaxSample] seconds a unit
func (u *UnitTimes) Running(id int, r Run) int {
	if !(r.Done > 0) {
		u.Drop(id)
		return NoSample
	}
	return u.put(id, r.Age.Seconds()/min(r.Done/r.Work, 1), r)
}

// Kill records an attempt that was killed. id is the id of its sample while it ran, or [NoSample]. Kill returns the
// id of the sample that stays. The host may pass this id to [UnitTimes.Repeat] when another attempt of the task has
// ended, and to Drop.
//
// A killed attempt has taken at least its age, and nothing more is certain. The attempt was killed because its
// progress implied a far longer time. Its sample keeps the time that its progress implied, converted to an average
// machine. Two other rules were tested: "by age" counts the killed attempt with its age alone, and "dropped" makes
// no sample of it. The table compares the three rules in worlds with a known truth, which the tests of package
// machines contain: 400 tasks of 20 s on ten machines. The last column is the rule "implied" without Factors, where
// the bad machine distorts the whole phase.
//
//	                                   E(t_new) in seconds, and attempts killed
//	world                       truth  implied  by age    dropped  no Factors
//	one machine 8 times slower     20  21    3  14  582   21    3   71  225
//	a twentieth of attempts 4x     23  23   19  20   23   21   19   23   19
//	both                           23  23   23  12  823   21   24   85  250
//	a tenth of tasks 5x longer     28  28  113  22  114   28  113   28  113
//	attempts that start slowly     20  25  556   9 1173   22 1007   25  445
//
// The last world shows a policy that kills healthy attempts by mistake. If such a mistake is dropped, or counts as
// a short run, t_new stays short and leads to the next mistake. The implied times make t_new longer until mistakes
// become rarer. The price is a t_new that is a quarter too long in that world.
//
// An attempt without progress counts with its age if its age is above the mean. Otherwise it makes no sample.
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

// Repeat compares a killed attempt with a later attempt of its task. r is the later attempt, which has finished or
// was killed in turn. Repeat converts both times to an average machine. If r took about as long as the killed
// attempt would have taken, the task is long, and the killed attempt was not slow. In this case Repeat drops the
// killed attempt's sample, because the task already has the sample of the later attempt. For example, a task that
// is restarted three times does not count four times. Repeat reports whether it dropped the sample.
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

// Finish records an attempt that finished. id is the id of its sample while it ran, or [NoSample]. Finish reports
// whether the attempt made a sample.
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

// Drop removes the sample of an attempt that failed; an id that is not in use changes nothing.
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

// scale returns how many times longer an attempt takes because of its machine and its network path.
func (u *UnitTimes) scale(r Run) float64 {
	scale := 1.
	if r.Path > 0 && num.Finite(r.Path) {
		scale = r.Path
	}
	return scale * u.origin.factor(u.config.Factors, r.Machine)
}

// put stores a sample of the given seconds, the whole time of an attempt. The sample replaces the sample with the
// given id, if there is one.
func (u *UnitTimes) put(id int, seconds float64, r Run) int {
	counts := max(r.Work, u.config.Floor)
	if r.Path > 0 && num.Finite(r.Path) {
		seconds /= r.Path
	}
	// The sample must be valid without any overhead as well, because the overhead may fall to 0.
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

// isNear reports whether a sample's value is near to a new value, so that both values are probably in one
// block. An attempt to replace the value within its block costs half of a delete and an insert. The cost is wasted if the
// values are in different blocks.
func (u *UnitTimes) isNear(id int, unitTime float64) bool {
	return u.holds(id) && math.Abs(unitTime-u.samples[id].unitTime) <= unitTime/64
}

// place returns the index of a free place in samples.
func (u *UnitTimes) place() int {
	if n := len(u.free); n > 0 {
		id := int(u.free[n-1])
		u.free = u.free[:n-1]
		return id
	}
	u.samples = append(u.samples, unitSample{})
	return len(u.samples) - 1
}

// settle fits the overhead if enough updates have come since the last fit. Otherwise settle only divides by the
// factors of the machines, if these have changed enough. A fit also walks over free places. If most places are
// free, fits must be rarer than the number of samples suggests.
func (u *UnitTimes) settle() {
	switch u.stale++; {
	case u.stale >= max(u.fitted, leastFit, len(u.samples)/4) && !u.config.FixedOverhead:
		u.fit()
	case u.origin.moved(len(u.samples)):
		u.rebuild()
	}
}
