package knn

import (
	"math"
	"math/bits"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/check"
)

// Regressor predicts the running time of a task from past runs of similar tasks. The method is k-nearest-neighbour
// regression with the Epanechnikov kernel [DynamicShare §3.1, equations 1 and 2]:
//
//	m(x) = sum W_i y_i / sum W_i over the k runs nearest to x,  W_i = 1 - (|x - x_i|/R)^2
//
// Here x is the vector of the task's parameters, and y_i is the time of run i. R is the distance of the farthest of
// the k runs, and so the farthest run has no weight. Equation 1 as printed divides by n, the number of all runs.
// With the weights of equation 2 the printed result is too small by k/n. All weights are 0 if k is 1 or if all k
// runs are equally far away. In this case the answer is the plain mean of every run at that distance.
//
// A prediction scans all runs: with three parameters some 3 ns for each run, 30 µs for the default of 10,000 runs.
// Standard deviations are computed again when a 32nd part of the runs is new. So from 64 runs on the deviations may lag
// by this part; the runs of a prediction are always up to date.
//
// Not safe for concurrent use: each kind of task and each worker needs a separate value. Several goroutines may
// call Predict at the same time, each with its own [Prediction]. During these calls nothing may change the
// Regressor.
type Regressor struct {
	config   Config
	x        []float64 // parameters of all runs, run by run
	y        []float64 // seconds
	oldest   int       // index of the oldest run, which the next run replaces once there are Keep runs
	added    int       // runs ever added
	measured int       // value of added at the last computation of inverse
	inverse  []float64 // 1 over the divisor of each parameter; 0 for a parameter that is ignored
}

// New returns a Regressor without runs, or an error that names the field out of range.
func New(c Config) (*Regressor, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c = c.Effective()
	k := &Regressor{config: c, inverse: make([]float64, c.Dimensions)}
	for i := range k.inverse {
		k.inverse[i] = 1
	}
	return k, nil
}

// Config returns the configuration with its defaults filled in. Neighbours stays 0 if it depends on the number of runs.
func (k *Regressor) Config() Config { return k.config }

// Len returns the number of remembered runs.
func (k *Regressor) Len() int { return len(k.y) }

// Divisors appends the divisor of each parameter to dst. A distance divides the parameter by its divisor. The
// divisor 0 stands for a parameter that is ignored.
func (k *Regressor) Divisors(dst []float64) []float64 {
	for _, inverse := range k.inverse {
		divisor := 0.0
		if inverse > 0 {
			divisor = 1 / inverse
		}
		dst = append(dst, divisor)
	}
	return dst
}

// Observe remembers that a task with the parameters x took the given time in seconds. Observe returns an error and
// changes nothing in three cases:
//
//   - x does not have Dimensions entries
//   - an entry is not finite or beyond 1e100
//   - seconds is not from 0 to [estimate.MaxSample]
//
// Do not observe runs that failed or were killed, because their times are not the times of tasks. Amortised O(1):
// one call in n/32 takes O(n), about a millisecond for 100,000 runs. Observe allocates only while the number of runs
// grows.
func (k *Regressor) Observe(x []float64, seconds float64) error {
	if err := k.check(x); err != nil {
		return err
	}
	if !(seconds >= 0 && seconds <= estimate.MaxSample) {
		return check.Badf("estimate/knn", "seconds", seconds, "0 to %g", float64(estimate.MaxSample))
	}
	k.add(x, seconds)
	if k.added-k.measured >= max(1, len(k.y)/32) {
		k.measure()
	}
	return nil
}

// add remembers a run. If there are Keep runs, it replaces the oldest run.
func (k *Regressor) add(x []float64, seconds float64) {
	if len(k.y) < k.config.Keep {
		k.x, k.y = append(k.x, x...), append(k.y, seconds)
	} else {
		copy(k.x[k.oldest*len(x):], x)
		k.y[k.oldest] = seconds
		k.oldest = (k.oldest + 1) % len(k.y)
	}
	k.added++
}

func (k *Regressor) check(x []float64) error {
	if k.config.Dimensions == 0 {
		return check.Bad("estimate/knn", "Config.Dimensions", 0, "1 or more: make the Regressor with New")
	}
	if len(x) != k.config.Dimensions {
		return check.Badf("estimate/knn", "len(x)", len(x), "%d", k.config.Dimensions)
	}
	for i, v := range x {
		if !(math.Abs(v) <= maxParameter) {
			return check.Badf("estimate/knn", check.At("x", i, ""), v, "-%g to %g", maxParameter, maxParameter)
		}
	}
	return nil
}

// measure computes the divisors again.
func (k *Regressor) measure() {
	if k.config.Scaling == ScaleDeviation {
		for i := range k.inverse {
			k.inverse[i] = k.inverseDeviation(i)
		}
	}
	k.measured = k.added
}

// inverseDeviation returns 1 over the population standard deviation of parameter i; 0 for a constant parameter.
func (k *Regressor) inverseDeviation(i int) float64 {
	n, d := float64(len(k.y)), k.config.Dimensions
	var sum, largest, squares float64
	for j := i; j < len(k.x); j += d {
		sum += k.x[j]
		largest = max(largest, math.Abs(k.x[j]))
	}
	mean := sum / n
	for j := i; j < len(k.x); j += d {
		difference := k.x[j] - mean
		squares += float64(difference * difference)
	}
	deviation := math.Sqrt(squares / n)
	if deviation <= max(constantSpread*largest, leastSpread) {
		return 0
	}
	return 1 / deviation
}

// neighbours returns k for the present number of runs.
func (k *Regressor) neighbours() int {
	if n := k.config.Neighbours; n > 0 {
		return min(n, len(k.y))
	}
	return neighboursFor(len(k.y))
}

// neighboursFor returns the least k with k^5 >= n^4. The power n^0.8 is a first guess only: in floating point it is
// too large by 1 for n = 32, 243, 1024 and other fifth powers.
func neighboursFor(n int) int {
	k := int(math.Pow(float64(n), .8))
	for k > 0 && fifthPowerReaches(k-1, n) {
		k--
	}
	for !fifthPowerReaches(k, n) {
		k++
	}
	return k
}

// fifthPowerReaches reports whether k^5 >= n^4, in 128 bits; both are at most maxRuns, and k is about n^0.8.
func fifthPowerReaches(k, n int) bool {
	hiN, loN := bits.Mul64(uint64(n)*uint64(n), uint64(n)*uint64(n))
	hi, lo := bits.Mul64(uint64(k)*uint64(k), uint64(k)*uint64(k))
	carry, lo := bits.Mul64(lo, uint64(k))
	hi = hi*uint64(k) + carry
	return hi > hiN || hi == hiN && lo >= loN
}
