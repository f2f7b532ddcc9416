package placement

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Every error contains the field, with its task, its rack or both, and the value.
func TestAssignRefusesIllFormedProblems(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	even := []float64{1, 1}
	for name, c := range map[string]struct {
		p    Problem
		want string
	}{
		"ragged":       {Problem{Input: [][]float64{{1, 2}, {1}}, Up: even, Down: even}, "placement: Problem.Input[1] has 1 racks, want 2 as in Problem.Up"},
		"down differs": {Problem{Up: even, Down: even[:1]}, "placement: Problem.Down has 1 racks, want 2 as in Problem.Up"},
		"slots differ": {Problem{Up: even, Down: even, Slots: []int{1}}, "placement: Problem.Slots has 1 racks, want 2 as in Problem.Up"},
		"no rack":      {Problem{Input: [][]float64{{}}}, "placement: Problem.Up has 0 racks, want at least 1 for the 1 tasks of Problem.Input"},
		"negative":     {Problem{Input: [][]float64{{1, -2}}, Up: even, Down: even}, "placement: Problem.Input[0][1] is -2, want a finite number of at least 0"},
		"nan":          {Problem{Input: [][]float64{{nan, 2}}, Up: even, Down: even}, "placement: Problem.Input[0][0] is NaN, want a finite number of at least 0"},
		"infinite":     {Problem{Input: [][]float64{{1, inf}}, Up: even, Down: even}, "placement: Problem.Input[0][1] is +Inf, want a finite number of at least 0"},
		"overflow":     {Problem{Input: [][]float64{{1e308, 1}, {1e308, 1}}, Up: even, Down: even}, "placement: the sum of Problem.Input overflows at task 1, want a finite sum"},
		"up":           {Problem{Up: []float64{1, -1}, Down: even}, "placement: Problem.Up[1] is -1, want a bandwidth of at least 0"},
		"down":         {Problem{Up: even, Down: []float64{nan, 1}}, "placement: Problem.Down[0] is NaN, want a bandwidth of at least 0"},
		"slots":        {Problem{Up: even, Down: even, Slots: []int{0, -1}}, "placement: Problem.Slots[1] is -1, want at least 0"},
		"few slots": {Problem{Input: [][]float64{{1, 1}, {1, 1}, {1, 1}}, Up: even, Down: even, Slots: []int{1, 1}},
			"placement: the sum of Problem.Slots is 2, want at least 3, a slot for each task"},
		"tiny bandwidth": {Problem{Input: [][]float64{{1e200, 1}}, Up: []float64{1, 1e-200}, Down: even},
			"placement: Problem.Up[1] is 1e-200, too small to divide 1e+200 bytes by"},
		"two racks cut off": {Problem{Input: [][]float64{{0, 0}, {1, 1}}, Up: []float64{0, 0}, Down: even},
			"placement: Problem.Up[0] and Up[1] are 0, but Input[1] has data to move out of one of these racks"},
		"cut off and full": {Problem{Input: [][]float64{{1, 0}, {1, 0}}, Up: []float64{0, 1}, Down: even, Slots: []int{1, 9}},
			"placement: Problem.Up[0] is 0, and Slots[0] is 1, too few for the tasks with data in that rack, such as task 1"},
		"cut off both ways": {Problem{Input: [][]float64{{1, 1}}, Up: []float64{0, 1}, Down: []float64{0, 1}},
			"placement: Problem.Down[0] and Up[0] are 0, but Input[0] has data to move into or out of that rack"},
		"no downlink": {Problem{Input: [][]float64{{1, 1}}, Up: even, Down: []float64{0, 0}},
			"placement: Problem.Down is 0 in every rack, but Input[0] has data to move"},
		"downlink full": {Problem{Input: [][]float64{{1, 1}, {1, 1}}, Up: even, Down: []float64{0, 1}, Slots: []int{5, 1}},
			"placement: Problem.Slots are too few for task 1 in the racks with a Down above 0, such as rack 1"},
	} {
		_, err := Assign(c.p, DefaultEffort)
		assert.EqualError(t, err, c.want, name)
	}
	_, err := Assign(Problem{}, -2)
	assert.EqualError(t, err, "placement: Effort is -2, want DefaultEffort, Exhaustive or one of Within")
}

func TestAssignSolvesDegenerateProblems(t *testing.T) {
	for name, c := range map[string]struct {
		p    Problem
		want float64
	}{
		"nothing":              {Problem{}, 0},
		"no tasks":             {Problem{Up: []float64{1, 1}, Down: []float64{0, 0}}, 0},
		"one rack":             {Problem{Input: [][]float64{{5}, {7}}, Up: []float64{0}, Down: []float64{0}}, 0},
		"no data":              {Problem{Input: [][]float64{{0, 0}}, Up: []float64{0, 0}, Down: []float64{0, 0}}, 0},
		"all local":            {Problem{Input: [][]float64{{5, 0}, {0, 7}}, Up: []float64{0, 0}, Down: []float64{0, 0}}, 0},
		"infinite links":       {Problem{Input: [][]float64{{5, 3}}, Up: infinite(2), Down: infinite(2)}, 0},
		"dead link avoided":    {Problem{Input: [][]float64{{5, 3}}, Up: []float64{0, 1}, Down: []float64{1, 1}}, 3},
		"tiny next to large":   {Problem{Input: [][]float64{{1e20, 1}}, Up: []float64{1, 1}, Down: []float64{1, 1}}, 1},
		"minus zero":           {Problem{Input: [][]float64{{3, 5}}, Up: infinite(2), Down: []float64{1, math.Copysign(0, -1)}}, 5},
		"surplus slots":        {Problem{Input: [][]float64{{5, 3}}, Up: []float64{1, 1}, Down: []float64{1, 1}, Slots: []int{math.MaxInt, math.MaxInt}}, 3},
		"largest and smallest": {Problem{Input: [][]float64{{1e150, 1e-150}}, Up: []float64{1, 1}, Down: []float64{1, 1}}, 1e-150},
	} {
		a, err := Assign(c.p, DefaultEffort)
		require.NoError(t, err, name)
		checked(t, c.p, a)
		assert.Equal(t, c.want, a.Seconds, name)
		assert.True(t, a.Optimal, name)
	}
}

func TestBandwidthConfigRefusesValuesOutOfRange(t *testing.T) {
	p := Problem{Up: []float64{1}, Down: []float64{1}}
	for want, b := range map[string]BandwidthConfig{
		"placement: BandwidthConfig.Rule is BandwidthRule(3), want one of: hybrid, start, equal":  {Rule: 3},
		"placement: BandwidthConfig.Short is -1s, want a positive duration, or 0 for the default": {Short: -time.Second},
	} {
		assert.EqualError(t, b.Validate(), want)
		_, _, err := b.Estimate(p)
		assert.EqualError(t, err, want)
	}
	_, _, err := BandwidthConfig{}.Estimate(Problem{Up: []float64{-1}, Down: []float64{1}})
	assert.EqualError(t, err, "placement: Problem.Up[0] is -1, want a bandwidth of at least 0")
	assert.Equal(t, time.Minute, BandwidthConfig{}.Effective().Short)
}

func TestAffinityRefusesIllFormedSpreads(t *testing.T) {
	_, err := Affinity(nil, []int{1, 2}, [][]int{{0}}, 3, 0)
	assert.EqualError(t, err, "placement: machines has 1 racks, spread has 2")
	_, err = Affinity(nil, []int{1, -2}, [][]int{{0}, {1}}, 3, 0)
	assert.EqualError(t, err, "placement: spread[1] is -2, want at least 0")
}
