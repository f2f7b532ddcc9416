package sim

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
)

// evenPhase has tasks of 20, 40, ..., 180 s, of which that of 100 s is the median; the first one's progress was
// recorded.
func evenPhase() *Phase {
	always := func(*rand.Rand, int, int, bool) time.Duration { return 50 * time.Second }
	p := &Phase{Interval: time.Second, Machines: 3, Draw: always}
	for i := range 9 {
		p.Tasks = append(p.Tasks, Task{Work: 1, Attempts: []Attempt{{Duration: time.Duration(20*(i+1)) * time.Second}}})
		p.Order = append(p.Order, int32(i))
	}
	for i := range 3 {
		p.Slots = append(p.Slots, Slot{Machine: i})
	}
	p.Tasks[0].Attempts[0].Splits = &Splits{8, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2}
	return p
}

// curves makes curves of copies of 100 s, in phases of their own.
func curves(t *testing.T, name string, phases, copies int) (all []Curve) {
	t.Helper()
	model, err := ParseProgress(name)
	require.NoError(t, err)
	require.Equal(t, name, model.String())
	r := rand.New(rand.NewPCG(3, 4))
	for range phases {
		draw := model.begin(r, evenPhase())
		for range copies {
			all = append(all, draw(r, 100*time.Second, nil))
		}
	}
	return all
}

// Progress never goes back, begins at nothing and ends with its copy.
func TestCurvesRise(t *testing.T) {
	for _, name := range []string{"linear", "noisy=0.3", "typical", "recorded", "late"} {
		for _, curve := range curves(t, name, 20, 5) {
			before := 0.0
			assert.InDelta(t, 0, curve(0), 1e-12, name)
			for i := range 201 {
				done := curve(float64(i) / 200)
				require.GreaterOrEqual(t, done, before, "%s at %d", name, i)
				require.LessOrEqual(t, done, 1.0, name)
				before = done
			}
			if name != "noisy=0.3" { // whose copies may end at less than all of their work
				require.InDelta(t, 1, curve(1), 1e-9, name)
			}
		}
	}
	for _, curve := range curves(t, "none", 3, 3) {
		assert.Nil(t, curve)
	}
}

// A noisy copy is off by the same factor all the time; its logarithm has a mean of 0 and the given sigma.
func TestNoise(t *testing.T) {
	const n = 20_000
	sum, squares := 0.0, 0.0
	for _, curve := range curves(t, "noisy=0.3", 1, n) {
		factor := curve(0.01) / 0.01
		require.InEpsilon(t, min(0.5*factor, 1), curve(0.5), 1e-9)
		require.InEpsilon(t, min(factor, 1), curve(1), 1e-9)
		sum += math.Log(factor)
		squares += math.Log(factor) * math.Log(factor)
	}
	assert.InDelta(t, 0, sum/n, 0.01)
	assert.InDelta(t, 0.3, math.Sqrt(squares/n), 0.01)
}

// when returns the share of the time at which a curve has reached a share of the work.
func when(curve Curve, done float64) float64 {
	const steps = 1 << 16
	return float64(sort.Search(steps, func(i int) bool { return curve(float64(i)/steps) >= done })) / steps
}

func quantileOf(values []float64, p float64) float64 {
	slices.Sort(values)
	return values[int(p*float64(len(values)))]
}

// Typical progress has the figures of docs/progress.md, which compares it with recorded progress.
func TestTypicalQuartiles(t *testing.T) {
	var first, half []float64
	still := 0
	all := curves(t, "typical", 20_000, 2)
	for _, curve := range all {
		first = append(first, when(curve, 1.0/Parts))
		half = append(half, when(curve, 0.5))
		for k, before := 1, 0.0; k <= Parts/2; k++ {
			at := when(curve, float64(k)/Parts)
			if at-before > 0.5 {
				still++
			}
			before = at
		}
	}
	assert.InDelta(t, 0.05, quantileOf(first, 0.25), 0.01)
	assert.InDelta(t, 0.14, quantileOf(first, 0.75), 0.01)
	assert.InDelta(t, 0.55, quantileOf(half, 0.25), 0.01)
	assert.InDelta(t, 0.70, quantileOf(half, 0.75), 0.01)
	assert.InDelta(t, 1.0/9, float64(still)/float64(len(all)), 0.01, "stand still for most of their time early on")
}

// Late progress is that of the median task for 0.9 of that one's time, whatever its copy takes.
func TestLateLooksTypical(t *testing.T) {
	draw := Late.begin(nil, evenPhase())
	slow, median, quick := draw(nil, 400*time.Second, nil), draw(nil, 100*time.Second, nil), draw(nil, 20*time.Second, nil)
	for _, at := range []float64{1, 45, 89.9} { // seconds
		assert.InDelta(t, at/100, slow(at/400), 1e-9)
		assert.InDelta(t, at/100, median(at/100), 1e-9)
	}
	assert.InDelta(t, 0.95, slow((90+310.0/2)/400), 1e-9, "half of the rest of its time makes half of the rest of its work")
	assert.InDelta(t, 0.5, quick(0.5), 1e-12)
}

// A recorded attempt reports as it did; a copy that was never run as some attempt of its phase; without any, as is
// typical.
func TestRecordedProgress(t *testing.T) {
	p := evenPhase()
	own := &Splits{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 9}
	r := rand.New(rand.NewPCG(1, 1))
	draw := Recorded.begin(r, p)
	assert.InDelta(t, 11.0/12, draw(r, time.Second, own)(11.0/20), 1e-9)
	assert.InDelta(t, 1.0/12, draw(r, time.Second, nil)(0.4), 1e-9)

	p.Tasks[0].Attempts[0].Splits = nil
	a, b := rand.New(rand.NewPCG(2, 2)), rand.New(rand.NewPCG(2, 2))
	recorded, typical := Recorded.begin(a, p)(a, time.Second, nil), Typical.begin(b, p)(b, time.Second, nil)
	for i := range 100 {
		assert.Equal(t, typical(float64(i)/100), recorded(float64(i)/100))
	}
}

// scores returns the reported progress of the first attempt of each task, in tenths of a percent, by task and age.
func scores(t *testing.T, policy restart.Policy, model Progress, seed uint64) map[reportOf]string {
	t.Helper()
	all := map[reportOf]string{}
	p := evenPhase()
	for task := range p.Tasks {
		var began time.Duration
		o := Options{Policy: policy, Progress: model, Seed: seed, WatchTask: task}
		o.Watch = func(at time.Duration, attempt int, what string) {
			score, _, report := strings.Cut(what, "  ")
			switch {
			case attempt > 0:
			case what == "started":
				began = at
			case report:
				all[reportOf{task, at - began}] = score
			}
		}
		_, err := Run(p, o)
		require.NoError(t, err)
	}
	return all
}

type reportOf struct {
	task int
	age  time.Duration
}

// The progress that an attempt reports depends on the seed, its task and its number, and not on the policy.
func TestProgressIsOfTheCopy(t *testing.T) {
	for _, model := range []Progress{Noisy(0.3), Typical} {
		first := scores(t, restart.Never{}, model, 1)
		assert.Equal(t, first, scores(t, restart.Never{}, model, 1), model)
		assert.NotEqual(t, first, scores(t, restart.Never{}, model, 2), model)
		mantri := scores(t, restart.Mantri{}, model, 1)
		assert.Greater(t, len(mantri), 100)
		for at, score := range mantri {
			require.Equal(t, first[at], score, "%v at %v", model, at)
		}
		a, b := first[reportOf{2, 30 * time.Second}], first[reportOf{8, 90 * time.Second}]
		assert.NotEmpty(t, a)
		assert.NotEqual(t, a, b, "after the same share of its time, of another copy")
	}
}

// silence notes whether any copy was ever heard of.
type silence struct {
	restart.Policy
	asked, broken int
}

func (s *silence) Decide(t restart.Task, p restart.Phase) restart.Decision {
	s.asked++
	if !p.Silent {
		s.broken++
	}
	return s.Policy.Decide(t, p)
}

// Where there is no progress, nothing is reported, ever.
func TestNoneIsSilent(t *testing.T) {
	for model, silent := range map[string]bool{"none": true, "linear": false} {
		progress, err := ParseProgress(model)
		require.NoError(t, err)
		s := &silence{Policy: restart.Mantri{}}
		_, err = Run(evenPhase(), Options{Policy: s, Progress: progress})
		require.NoError(t, err)
		assert.Positive(t, s.asked, model)
		assert.Equal(t, silent, s.broken == 0, model)
	}
}
