package estimate

import (
	"math"

	"github.com/straggler-go/straggler/internal/num"
)

// UnitTimes learns the time for one unit of work from the tasks of one phase [Mantri §5.5]. The paper calls this
// time processRate, and calls it a rate, but the unit is seconds per unit of work. ([Progress.Rate] is a rate, in
// units of work per second.)
//
// UnitTimes takes one sample from each attempt:
//
//   - a finished attempt: the whole time that it took
//   - a running attempt: the whole time that its progress so far implies; the paper says "all the tasks in this
//     phase", which includes running tasks
//   - a failed attempt: no sample
//   - a killed attempt: see [UnitTimes.Kill]
//
// UnitTimes is a [Distribution] in seconds per unit of work. The number of units in a task is [UnitTimes.Work],
// which includes the overhead of a task. If there are at least MinSamples samples, the distribution describes the
// samples. If there are fewer, the distribution is the Prior. Without a Prior, it then describes a time that never
// comes: its mean and quantiles are +Inf.
//
// An update takes O(log n) amortised for n samples. After n updates, UnitTimes fits the overhead again. If the
// overhead has changed, all samples are sorted again: this update takes O(n log n), half a second for a million
// samples. If the number of samples is not larger than ever before, an update does not allocate. A sample needs 40
// bytes.
//
// Not safe for concurrent use: each phase needs a separate value.
type UnitTimes struct {
	config   UnitTimesConfig
	all      Empirical // the unit times of the samples
	samples  []unitSample
	origin   origins // the machine of each sample
	free     []int32 // indexes of samples that are not in use
	first    []int32 // indexes of the samples of finished attempts of the first wave
	overhead float64
	largest  float64 // the largest work of a sample that the fit of the overhead used; 0 before the first fit
	stale    int     // updates since the overhead was last fitted
	fitted   int     // number of samples when the overhead was last fitted
}

// unitSample is the sample of one attempt: its whole time in seconds, its work in units, and unitTime, the time per
// unit of work that is in UnitTimes.all. A negative unitTime is notInUse or censored.
type unitSample struct{ seconds, work, unitTime float64 }

const (
	notInUse = -1 // as unitTime: the index of the sample is not in use
	// as unitTime: the attempt was killed without progress, and would have taken at least the seconds of the sample;
	// the sample is not in UnitTimes.all, and no fit uses it
	censored = -2
)

// NewUnitTimes returns an empty UnitTimes, or an error that names the field of c that is out of range.
func NewUnitTimes(c UnitTimesConfig) (*UnitTimes, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return &UnitTimes{config: c.Effective()}, nil
}

// Config returns the configuration with its defaults filled in.
func (u *UnitTimes) Config() UnitTimesConfig { return u.config }

// Overhead returns the constant part of a task's time, in units of work. For example, with an overhead of 20 a task
// of 100 units takes as long as 120 units of work.
//
// Equation 3 of the paper makes the time of a task proportional to its work. If the time of tasks hardly depends on
// their bytes, the equation is wrong for small tasks: it promises that a new attempt of each small task would be
// quick. A scheduler would then restart all small tasks. The overhead prevents such restarts. The overhead is
// fitted by least squares of the relative error. Samples that take over 1.5 times their fitted time are left out.
// The overhead is 0 if there are fewer than 8 samples, or if all tasks have equal work.
//
// If a new fit would change the work of a mean task, including the overhead, by less than a twentieth, UnitTimes
// keeps the old overhead. An overhead that is fitted to few samples is unsteady. With ten tasks, about one fit in
// ten changes the expected time of a small task by over a tenth. With a hundred tasks, no fit does so after their
// reports have settled. FixedOverhead is steadier if it suits the phase.
func (u *UnitTimes) Overhead() float64 { return u.overhead }

// Work returns the number of units that is used for a task of the given work: the work or Floor, whichever is
// larger, plus the overhead. The fit of the overhead says little about tasks that are far larger than the tasks that it
// was fitted to. So for a task of more than twice the largest such task, Work is proportional to the work, as without
// an overhead.
func (u *UnitTimes) Work(work float64) float64 {
	work = max(work, u.config.Floor)
	if reach := float64(reaches * u.largest); u.overhead > 0 && work > reach {
		return work * (1 + u.overhead/reach)
	}
	return work + u.overhead
}

// NoSample is returned and passed in place of the id of a sample if the attempt has no sample.
const NoSample = -1

// Running records the sample of a running attempt, or replaces it: the sample is the whole time that the progress
// of the attempt so far implies. In the first call for an attempt, id must be [NoSample]. Running returns the id
// that the host must pass in the next call for this attempt. Running records no sample and returns NoSample for:
//
//   - an attempt that has done nothing
//   - an attempt of negative age or negative work
//   - an attempt of work that is not finite, or that is 0 without a Floor
//   - an attempt that takes over [MaxSample] seconds per unit of work
func (u *UnitTimes) Running(id int, r Run) int {
	if !(r.Done > 0) {
		u.Drop(id)
		return NoSample
	}
	return u.put(id, unitSample{seconds: r.Age.Seconds() / min(r.Done/r.Work, 1)}, r)
}

// Kill records an attempt that was killed. id is the id of the attempt's sample while it ran, or [NoSample]. Kill
// returns the id of the sample that it records, or NoSample. The host may pass this id to [UnitTimes.Repeat] when
// another attempt of the task has ended, and to Drop.
//
// A killed attempt would have taken at least as long as it has run, and nothing more is certain. The attempt was
// killed because its progress implied a far longer time. The sample of a killed attempt is the time that its
// progress implied, converted to an average machine: the column "implied" of the table. Two other rules were
// tested. The rule "by age" uses the age of the killed attempt as its sample, and the rule "dropped" makes no
// sample of it. The table compares the rules in worlds with a known truth, which the tests of package machines
// contain: 400 tasks of 20 s on ten machines. Each rule has two columns: E(t_new), the expected time of a new
// attempt in seconds, and the number of attempts killed. The last two columns are the rule "implied" without
// Factors. There the bad machine distorts the whole phase.
//
//	                                   E(t_new) in seconds, and attempts killed
//	world                       truth  implied  by age    dropped  no Factors
//	one machine 8 times slower     20  21    3  14  582   21    3   71  225
//	a twentieth of attempts 4x     23  23   19  20   23   21   19   23   19
//	both                           23  23   23  12  823   21   24   85  250
//	a tenth of tasks 5x longer     28  28  113  22  114   28  113   28  113
//	attempts that start slowly     20  25  556   9 1173   22 1007   25  445
//
// In the last world, a policy kills healthy attempts by mistake. If such an attempt is dropped, or recorded as a
// short run, E(t_new) stays short and leads to the next mistake. The implied times make E(t_new) longer until
// mistakes become rarer. The price is an E(t_new) that is a quarter too long in that world.
//
// An attempt without progress would have taken at least its age, and nothing implies how long. So it is no sample of
// the distribution, and no fit of the overhead uses it. If its age is above the mean time of such a task on such a
// machine, Kill returns an id all the same, for Repeat. Otherwise Kill returns NoSample.
func (u *UnitTimes) Kill(id int, r Run) int {
	if r.Done > 0 {
		return u.Running(id, r)
	}
	u.Drop(id)
	seconds := r.Age.Seconds()
	if u.all.Len() == 0 || !(seconds > u.Work(r.Work)*u.scale(r)*u.all.Mean()) {
		return NoSample
	}
	return u.put(NoSample, unitSample{seconds: seconds, unitTime: censored}, r)
}

// Repeat compares a killed attempt with a later attempt of the same task. killed is the id that Kill returned. r is
// the later attempt, which has finished or was killed in turn. Repeat converts the times of both attempts to an
// average machine. If r took at least two thirds of the time that the killed attempt would have taken, the task is
// long, and the killed attempt was not slow. In this case Repeat drops the killed attempt's sample, because the
// task already has the sample of the later attempt. Otherwise a long task that is restarted three times would be
// included four times. Repeat reports whether it dropped the sample.
func (u *UnitTimes) Repeat(killed int, r Run) bool {
	if !u.holds(killed) {
		return false
	}
	took := r.Age.Seconds() / u.Work(r.Work) / u.scale(r)
	if r.Done > 0 {
		took /= min(r.Done/r.Work, 1)
	}
	if !(took*trimmed >= u.normal(killed)/u.Work(u.samples[killed].work)) {
		return false
	}
	u.Drop(killed)
	return true
}

// Finish records an attempt that finished. id is the id of the attempt's sample while it ran, or [NoSample]. Finish
// returns the id of the sample that it records, or NoSample. The host may pass this id to Drop when the sample is too
// old, unless the attempt belongs to the first wave.
func (u *UnitTimes) Finish(id int, r Run) int {
	if id = u.put(id, unitSample{seconds: r.Age.Seconds()}, r); id == NoSample {
		return NoSample
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
	return id
}

// Drop removes the sample with the given id, for example because its attempt failed. An id that is not in use
// changes nothing.
func (u *UnitTimes) Drop(id int) {
	if !u.holds(id) {
		return
	}
	if s := &u.samples[id]; s.unitTime >= 0 {
		u.all.Delete(s.unitTime)
	}
	u.samples[id].unitTime = notInUse
	u.free = append(u.free, int32(id))
	u.origin.leave(id)
}

// holds reports whether there is a sample with the given id.
func (u *UnitTimes) holds(id int) bool {
	return id >= 0 && id < len(u.samples) && u.samples[id].unitTime != notInUse
}

// scale returns how many times longer an attempt takes than on average, because of its machine and its network
// path.
func (u *UnitTimes) scale(r Run) float64 {
	scale := 1.
	if r.Path > 0 && num.Finite(r.Path) {
		scale = r.Path
	}
	return scale * u.origin.factor(u.config.Factors, r.Machine)
}

// put stores the sample s of an attempt, whose seconds are the whole time of the attempt. If id is the id of a
// sample, the new sample replaces that sample. put returns the id of the new sample.
func (u *UnitTimes) put(id int, s unitSample, r Run) int {
	counts := max(r.Work, u.config.Floor)
	if r.Path > 0 && num.Finite(r.Path) {
		s.seconds /= r.Path
	}
	// This check leaves out the overhead: the sample must be in range without any overhead as well, because the
	// overhead may fall to 0 later.
	if !(r.Work >= 0) || !num.Finite(r.Work) || counts == 0 || !(s.seconds <= MaxSample*counts) {
		u.Drop(id)
		return NoSample
	}
	s.work = r.Work
	unitTime, factor := s.seconds, 1.
	if u.config.Factors != nil {
		factor = u.origin.factor(u.config.Factors, r.Machine)
		unitTime /= factor
	}
	isTime := s.unitTime != censored
	if isTime {
		s.unitTime = unitTime / u.Work(r.Work)
	}
	if u.isNear(id, s.unitTime) && u.all.replace(u.samples[id].unitTime, s.unitTime) {
		u.origin.leave(id)
	} else {
		u.Drop(id)
		if isTime && !u.all.Insert(s.unitTime) {
			return NoSample
		}
		id = u.place()
	}
	u.samples[id] = s
	if u.config.Factors != nil {
		u.origin.join(id, r.Machine, factor)
	}
	u.settle()
	return id
}

// isNear reports whether the present value of a sample and a new value are so close that both probably belong in
// the same block. A value that is replaced within its block costs half as much as a delete and an insert. If the two
// values belong in different blocks, the attempt to do so is wasted.
func (u *UnitTimes) isNear(id int, unitTime float64) bool {
	return u.holds(id) && math.Abs(unitTime-u.samples[id].unitTime) <= unitTime/64
}

// place returns an index in samples that is not in use.
func (u *UnitTimes) place() int {
	if n := len(u.free); n > 0 {
		id := int(u.free[n-1])
		u.free = u.free[:n-1]
		return id
	}
	u.samples = append(u.samples, unitSample{})
	return len(u.samples) - 1
}

// settle fits the overhead again if there were enough updates since the last fit. Otherwise, if the factors of the
// machines have changed enough, settle only divides the samples by the new factors. A fit also visits the indexes
// that are not in use. If most indexes are not in use, fits must be rarer than the number of samples suggests.
func (u *UnitTimes) settle() {
	switch u.stale++; {
	case u.stale >= max(u.fitted, leastFit, len(u.samples)/4) && !u.config.FixedOverhead:
		u.fit()
	case u.origin.moved(len(u.samples)):
		u.rebuild()
	}
}
