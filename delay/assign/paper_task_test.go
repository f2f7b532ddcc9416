package assign

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// t7 is a downstream task with two clones. A clone reads for 4 s and computes for 10 to 12 s, or for 80 s in one case
// out of ten. Lags are exponential with a mean of 1 s, or 60 s in one case out of ten.
type t7 struct{ rng *rand.Rand }

func (s t7) lag() float64 {
	if s.rng.IntN(10) == 0 {
		return 60
	}
	return s.rng.ExpFloat64()
}

func (s t7) compute() float64 {
	if s.rng.IntN(10) == 0 {
		return 80
	}
	return 10 + 2*s.rng.Float64()
}

// mean returns the mean duration of the task over many draws. For each input, either each clone gets an output of its
// own or the clones share. With a single input the first clone is first to read; with several inputs the order is
// random.
func (s t7) mean(window, alpha float64, inputs int) float64 {
	const alone = 4.0
	draws := 40000
	if inputs > 1 {
		draws = 12000
	}
	x := min(window, alone)
	rest := x + (alone-x)/alpha
	total := 0.0
	for range draws {
		ends := [2]float64{s.compute(), s.compute()}
		for range inputs {
			first := 0
			if inputs > 1 {
				first = s.rng.IntN(2)
			}
			if s.lag() <= window {
				ends[first] += alone
				ends[1-first] += alone + x
			} else {
				ends[first] += rest
				ends[1-first] += rest + x
			}
		}
		total += min(ends[0], ends[1])
	}
	return total / float64(draws)
}

// model returns the model that a host would learn from such tasks. Its samples are sorted, so that the many calls of At
// sort them fast.
func (s t7) model(alpha float64, inputs int) Model {
	m := Model{Size: 4, Bandwidth: 1, Contention: alpha, Inputs: inputs}
	for range 4000 {
		m.Lags = append(m.Lags, time.Duration(s.lag()*1e9))
		m.Compute = append(m.Compute, time.Duration(s.compute()*1e9))
	}
	slices.Sort(m.Lags)
	slices.Sort(m.Compute)
	return m
}

// Step 2 takes the minimum over the clones, with their computation times. It matters for a task of one input
// (§4.4). With the window that minimises the mean read time of the clones, the task takes 1.8 % longer. With the
// window that minimises the read time of the clone that does not read the first output, it takes 4.8 % longer.
func TestTaskDurationIsMinimised_Dolly44Step2(t *testing.T) {
	t.Parallel()
	for alpha, loss := range map[float64][2]float64{.5: {.018, .048}, .75: {.011, .031}} {
		model := t7{rand.New(rand.NewPCG(7, 7))}.model(alpha, 1)
		task := func(window float64) float64 { return t7{rand.New(rand.NewPCG(1, 1))}.mean(window, alpha, 1) } // the same draws for every window
		best := math.Inf(1)
		for w := 0.0; w <= 4; w += .1 {
			best = min(best, task(w))
		}
		choice, err := ChooseWindow(model)
		require.NoError(t, err)
		assert.InDelta(t, best, task(choice.Window.Seconds()), .003*best, "α=%v: ω=%v", alpha, choice.Window)
		assert.InDelta(t, choice.TaskTime.Seconds(), task(choice.Window.Seconds()), .01*best, "TaskTime must predict the duration of the task")

		mean := model
		mean.Compute = nil
		byMean, err := ChooseWindow(mean)
		require.NoError(t, err)
		assert.InDelta(t, loss[0], task(byMean.Window.Seconds())/best-1, .004, "α=%v: ω=%v", alpha, byMean.Window)

		least, last := math.Inf(1), 0.0
		for w := 0.0; w <= 4; w += .01 {
			o, err := mean.At(time.Duration(w * 1e9))
			require.NoError(t, err)
			read := o.Sharing*o.Other.Shared.Seconds() + (1-o.Sharing)*o.Other.Own.Seconds()
			if read < least {
				least, last = read, w
			}
		}
		assert.InDelta(t, loss[1], task(last)/best-1, .006, "α=%v: ω=%v", alpha, last)
	}
}

// The pattern determines the number of inputs that a clone reads (§4.4 step 2). With ten inputs, each clone reads
// the first output of about five inputs. So the best window is not the best window for a single input.
func TestPatternEntersTheWindow_Dolly44Step2(t *testing.T) {
	t.Parallel()
	for _, alpha := range []float64{.5, .75} {
		s := t7{rand.New(rand.NewPCG(7, 8))}
		task := func(window float64) float64 { return t7{rand.New(rand.NewPCG(1, 2))}.mean(window, alpha, 10) }
		best := math.Inf(1)
		for w := 0.0; w <= 4; w += .5 {
			best = min(best, task(w))
		}
		ten, err := ChooseWindow(s.model(alpha, 10))
		require.NoError(t, err)
		assert.InDelta(t, best, task(ten.Window.Seconds()), .004*best, "α=%v: ω=%v", alpha, ten.Window)
		one, err := ChooseWindow(s.model(alpha, 1))
		require.NoError(t, err)
		assert.Greater(t, one.Window, ten.Window)
	}
}

// "p_c is inversely proportional to ω" (§4.4 step 3) is compared with the share of the lags. If κ is fitted to the
// sharing observed at 2 s, its windows are within 0.5 % of the best. If κ is fitted at 0.5 s, tasks take up to 1 %
// longer.
func TestInverseSharing_Dolly44Step3(t *testing.T) {
	m := t7{rand.New(rand.NewPCG(7, 9))}.model(.5, 1)
	o, err := m.At(2 * time.Second)
	require.NoError(t, err)
	m.InverseLag = time.Duration(o.Sharing * 2e9)
	inverse, err := m.At(2 * time.Second)
	require.NoError(t, err)
	assert.InDelta(t, o.Sharing, inverse.Sharing, 1e-9)
	half, err := m.At(4 * time.Second)
	require.NoError(t, err)
	assert.InDelta(t, o.Sharing/2, half.Sharing, 1e-9)
	atOnce, err := m.At(0)
	require.NoError(t, err)
	assert.Equal(t, 1.0, atOnce.Sharing)

	for _, inputs := range []int{1, 10} {
		byLags := t7{rand.New(rand.NewPCG(7, 9))}.model(.5, inputs)
		best, err := ChooseWindow(byLags)
		require.NoError(t, err)
		m.Inputs = inputs
		byInverse, err := ChooseWindow(m)
		require.NoError(t, err)
		task := func(w time.Duration) float64 {
			return t7{rand.New(rand.NewPCG(1, 1))}.mean(w.Seconds(), .5, inputs)
		}
		assert.InEpsilon(t, task(best.Window), task(byInverse.Window), .005, "with %d inputs the windows are %v from the lags and %v from κ", inputs, best.Window, byInverse.Window)
	}
}
