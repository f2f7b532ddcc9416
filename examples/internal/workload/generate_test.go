package workload

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/straggler-go/straggler/examples/internal/sim"
)

// shape is what the paper measured of its cluster.
type shape struct {
	outliers, mild, heavy int     // tasks over 1.5 times the median of their phase, under 2.5, over 10 times
	many                  float64 // phases with over 15 % of outliers
	tasksPerSlot          []float64
}

func shapeOf(phases []*sim.Phase) (s shape, explained [3]float64) {
	for _, p := range phases {
		durations := make([]time.Duration, len(p.Tasks))
		for i, t := range p.Tasks {
			durations[i] = t.Attempts[0].Duration
		}
		middle := median(durations).Seconds()
		own, byData := 0, 0
		for i, d := range durations {
			times := d.Seconds() / middle
			if times <= 1.5 {
				continue
			}
			own++
			s.outliers++
			if times < 2.5 {
				s.mild++
			}
			if times > 10 {
				s.heavy++
			}
			if p.Tasks[i].Work > 1.4 {
				byData++
			}
		}
		if float64(own) > 0.15*float64(len(p.Tasks)) {
			s.many++
		}
		s.tasksPerSlot = append(s.tasksPerSlot, float64(len(p.Tasks))/float64(len(p.Slots)))
		switch {
		case own < 5: // too few to say
		case byData == own:
			explained[0]++
		case byData <= own/10: // scatter makes some long without either cause
			explained[1]++
		default:
			explained[2]++
		}
	}
	s.many /= float64(len(phases))
	return s, explained
}

// The numbers are those of Mantri's paper, by section.
func TestGeneratedShape(t *testing.T) {
	s, explained := shapeOf(Generate(4000, 11))
	assert.InDelta(t, 0.25, s.many, 0.05, "§4.1: a quarter of the phases have over 15%% of outliers")
	assert.InDelta(t, 0.80, float64(s.mild)/float64(s.outliers), 0.06, "§4.1: 80%% of outliers under 2.5 times the median")
	assert.InDelta(t, 0.10, float64(s.heavy)/float64(s.outliers), 0.04, "§4.1: 10%% over 10 times")
	middle := s.tasksPerSlot
	assert.InDelta(t, 2.11, middleOf(middle), 0.25, "§3.1: median of tasks per slot")
	all := explained[0] + explained[1] + explained[2]
	assert.InDelta(t, 0.40, explained[0]/all, 0.06, "§4.2: phases whose outliers are all explained by data")
	assert.InDelta(t, 0.18, explained[1]/all, 0.06, "§4.2: phases none of whose outliers is")
}

func TestGenerateIsReproducible(t *testing.T) {
	a, b, c := Generate(5, 1), Generate(5, 1), Generate(5, 2)
	for i := range a {
		assert.Equal(t, a[i].Tasks, b[i].Tasks)
		assert.NotEqual(t, a[i].Tasks, c[i].Tasks)
	}
	assert.Equal(t, a[3].Tasks, Generate(4, 1)[3].Tasks, "a phase does not depend on how many there are")
}

// A copy of a task that is long because of its data is as long; a copy of an unlucky one is like the others.
func TestDrawKeepsWhatDataExplain(t *testing.T) {
	var samples []sample
	works := []float64{}
	for i := range 40 {
		work, slowness := 1.0, 1.0
		switch {
		case i == 0:
			work = 5 // much data
		case i == 1:
			slowness = 5 // bad luck
		}
		works = append(works, work)
		samples = append(samples, sample{work: work, seconds: 10 * work * slowness, machine: i % 4, late: i >= 4})
	}
	d := newDrawer(samples, works, fit(samples))
	r := rand.New(rand.NewPCG(1, 2))
	for task, want := range map[int]float64{0: 50, 1: 10, 7: 10} {
		var draws []float64
		for range 2000 {
			draws = append(draws, d.draw(r, task, 2, true).Seconds())
		}
		assert.InDelta(t, want, middleOf(draws), 0.05*want, "task %d", task)
	}
}

// Nearly empty inputs take as long as the shortest attempt, not a thousandth of it: their slowness is not passed on to
// copies of full ones. However bad the line, a copy takes at most ten times the longest attempt.
func TestDrawFromNearlyEmptyInputs(t *testing.T) {
	var samples []sample
	var works []float64
	for i := range 100 {
		work, seconds := float64(1000+10*(i%50)), float64(i%50)+1 // below the origin at zero
		if i%4 == 0 {
			work, seconds = 1, 2
		}
		works = append(works, work)
		samples = append(samples, sample{work: work, seconds: seconds, late: true})
	}
	d := newDrawer(samples, works, fit(samples))
	for _, ratio := range d.all {
		assert.LessOrEqual(t, ratio, 4.0)
	}
	r := rand.New(rand.NewPCG(1, 2))
	steep := newDrawer(samples, works, line{slope: 1e9, least: 1e-3})
	steep.expected[1] = 1e300
	assert.Equal(t, 500*time.Second, steep.draw(r, 1, 0, true))
	zero := []sample{{work: 1}, {work: 2}, {work: 3}, {work: 4}, {work: 5}}
	assert.Zero(t, newDrawer(zero, []float64{1}, fit(zero)).draw(r, 0, 0, true))
}

func TestFit(t *testing.T) {
	make := func(time func(work float64, i int) float64) []sample {
		var s []sample
		for i := range 60 {
			work := 1 + float64(i%10)
			s = append(s, sample{work: work, seconds: time(work, i)})
		}
		return s
	}
	outliers := func(i int) float64 {
		if i%15 == 0 {
			return 6
		}
		return 1
	}
	for name, c := range map[string]struct {
		time        func(work float64, i int) float64
		base, slope float64
	}{
		"proportional":             {func(w float64, _ int) float64 { return 3 * w }, 0, 3},
		"affine, with outliers":    {func(w float64, i int) float64 { return (20 + 3*w) * outliers(i) }, 20, 3},
		"flat":                     {func(float64, int) float64 { return 7 }, 7, 0},
		"falling counts as flat":   {func(w float64, _ int) float64 { return 20 - w }, 14.5, 0},
		"below the origin at zero": {func(w float64, _ int) float64 { return max(3*w-2, 0.5) }, 0, 2.71},
	} {
		l := fit(make(c.time))
		assert.InDelta(t, c.base, l.base, 0.05*c.base+0.01, name)
		assert.InDelta(t, c.slope, l.slope, 0.05*c.slope+0.01, name)
	}
	unknown := make(func(float64, int) float64 { return 4 })
	unknown[3].work = 0
	assert.Equal(t, line{base: 4, least: 4}, fit(unknown), "where a work is unknown, none is used")
}

func middleOf(values []float64) float64 {
	durations := []time.Duration{}
	for _, v := range values {
		durations = append(durations, time.Duration(v*1e9))
	}
	return median(durations).Seconds()
}
