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
// Here x is the vector of the task's parameters, and m(x) is the predicted time. x_i is the vector of parameters of
// run i, y_i is the time of run i, and W_i is the weight of run i. R is the distance of the farthest of the k runs,
// and so the farthest run has the weight 0. Equation 1 as printed divides by n, the number of all runs. With the
// weights of equation 2 the printed result is too small by the factor k/n. All weights are 0 if k is 1 or if all k
// runs are equally far away. In this case the prediction is the plain mean of all runs at that distance.
//
// With 512 or more runs, a k-d tree finds the k nearest runs. The tree changes no prediction: it finds exactly the
// runs that a scan of all runs finds. Most of the time of a prediction goes into sorting the k runs. The Regressor
// computes the standard deviations of the parameters, and the tree, again when a 32nd part of the runs is new. So with
// 64 or more runs, the deviations may ignore the newest 32nd part of the runs. A prediction always uses all runs.
//
// Not safe for concurrent use: each kind of task needs a separate value. However, several goroutines may call
// Predict at the same time, each with its own [Prediction]. During these calls nothing may change the Regressor.
type Regressor struct {
	config   Config
	x        []float64 // the parameters of the first run, then of the second run, and so on
	y        []float64 // seconds that each run took
	oldest   int       // index of the oldest run; if there are Keep runs, the next run replaces it
	added    int       // number of runs that were ever added
	measured int       // value of added when inverse was last computed
	indexed  int       // value of added when the tree was last built
	inverse  []float64 // for each parameter, 1 over the divisor of the parameter; 0 if the parameter is ignored
	tree     tree
}

// New returns a Regressor without runs, or an error that names the field of c that is out of range.
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

// Config returns the configuration with its defaults filled in. If Neighbours depends on the number of runs, the
// field stays 0.
func (k *Regressor) Config() Config { return k.config }

// Len returns the number of runs that the Regressor remembers.
func (k *Regressor) Len() int { return len(k.y) }

// Divisors appends the divisor of each parameter to dst: the number by which the parameter is divided before a
// distance is computed. The divisor 0 stands for a parameter that is ignored.
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

// Observe adds a run: a task with the parameters x took the given number of seconds. Observe returns an error and
// changes nothing in three cases:
//
//   - x does not have Dimensions entries
//   - an entry is not finite, or its absolute value is above 1e100
//   - seconds is not from 0 to [estimate.MaxSample]
//
// Do not observe runs that failed or were killed, because their times are not the times of tasks. Observe takes
// amortised O(log n) for n runs: one call in n/32 takes O(n log n), some 40 ms for 100,000 runs. Observe allocates
// only while the number of runs grows.
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
		k.index()
	}
	return nil
}

// add stores a run. If there are Keep runs, the new run replaces the oldest run.
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

// measure computes the divisors of the parameters from all runs.
func (k *Regressor) measure() {
	if k.config.Scaling == ScaleDeviation {
		for i := range k.inverse {
			k.inverse[i] = k.inverseDeviation(i)
		}
	}
	k.measured = k.added
}

// index builds the tree of all runs, if there are enough runs for a tree to be faster than a scan.
func (k *Regressor) index() {
	if len(k.y) < treeRuns {
		return
	}
	k.tree.build(k.x, k.inverse)
	k.indexed = k.added
}

// inverseDeviation returns 1 over the population standard deviation of parameter i over all runs. It returns 0 if
// the parameter is the same in all runs, except for rounding.
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

// neighbours returns k, the number of nearest runs that a prediction uses, for the present number of runs.
func (k *Regressor) neighbours() int {
	if n := k.config.Neighbours; n > 0 {
		return min(n, len(k.y))
	}
	return neighboursFor(len(k.y))
}

// neighboursFor returns the least k with k^5 >= n^4, which is n^0.8 rounded up. In floating point, the power n^0.8
// is too large by 1 for n = 32, 243, 1024 and other fifth powers. So the power is only a first guess, and whole
// numbers decide.
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

// fifthPowerReaches reports whether k^5 >= n^4, computed with whole numbers of 128 bits. The products fit into 128
// bits because n is at most maxRuns and k is about n^0.8.
func fifthPowerReaches(k, n int) bool {
	hiN, loN := bits.Mul64(uint64(n)*uint64(n), uint64(n)*uint64(n))
	hi, lo := bits.Mul64(uint64(k)*uint64(k), uint64(k)*uint64(k))
	carry, lo := bits.Mul64(lo, uint64(k))
	hi = hi*uint64(k) + carry
	return hi > hiN || hi == hiN && lo >= loN
}
