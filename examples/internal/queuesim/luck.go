package queuesim

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"time"
)

// luck makes the random numbers of a seed. A number depends on the arguments of the call, not on the order of the
// calls.
type luck uint64

// The purposes of random numbers.
const (
	forSize uint64 = iota
	forFate
	forDispatch
	forBackOff
	forFetch
)

func (l luck) draw(purpose, number, of uint64) *rand.Rand {
	var seed [32]byte
	for i, n := range [...]uint64{uint64(l), purpose, number, of} {
		binary.LittleEndian.PutUint64(seed[8*i:], n)
	}
	return rand.New(rand.NewChaCha8(seed))
}

// size returns the factor e^(.2 N) of a task.
func (l luck) size(task int) float64 {
	return math.Exp(.2 * l.draw(forSize, uint64(task), 0).NormFloat64())
}

// fate returns whether an attempt hangs, whether it fails half-way, and whether it is slow.
func (l luck) fate(s *Scenario, task, number int) (hangs, fails, slow bool) {
	r := l.draw(forFate, uint64(task), uint64(number))
	hang, fail, unlucky := r.Float64(), r.Float64(), r.Float64()
	return hang < s.Hang, fail < s.Fail, unlucky < s.Unlucky
}

// dispatch returns the time from the submit of a task's job to a free slot.
func (l luck) dispatch(task, number int) time.Duration {
	sigma := math.Sqrt(2 * math.Log(float64(DispatchMean)/float64(DispatchMedian)))
	n := l.draw(forDispatch, uint64(task), uint64(number)).NormFloat64()
	return time.Duration(float64(DispatchMedian) * math.Exp(sigma*n))
}

// backOff returns the time that a task waits after a number of failures.
func (l luck) backOff(task, tries int) time.Duration {
	chance := 1 + BackOffMore*(2*l.draw(forBackOff, uint64(task), uint64(tries)).Float64()-1)
	return time.Duration(math.Pow(float64(tries), 4) * chance * float64(time.Second))
}

// fetches returns when a worker looks for jobs for the k-th time. It is a random moment of each period, so that no
// worker is always first.
func (l luck) fetches(worker, k int) time.Duration {
	return time.Duration((float64(k) + l.draw(forFetch, uint64(worker), uint64(k)).Float64()) * float64(Fetch))
}
