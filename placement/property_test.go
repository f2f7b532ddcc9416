package placement

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// checked asserts the properties of every assignment, with any effort.
func checked(t *testing.T, p Problem, a Assignment) {
	t.Helper()
	require.Len(t, a.Rack, len(p.Input))
	for k, j := range a.Rack {
		require.True(t, j >= 0 && j < len(p.Up), "task %d is in rack %d, which does not exist", k, j)
	}
	require.True(t, fits(p, a.Rack), "the slots %v are too few for the racks %v", p.Slots, a.Rack)
	longest, _ := transfer(p, a.Rack)
	require.InDelta(t, longest, a.Seconds, 1e-9*longest)
	if longest > 0 {
		link, atLink := a.Bottleneck, 0.0
		only := Problem{Input: p.Input, Up: infinite(len(p.Up)), Down: infinite(len(p.Up))}
		if link.Direction == Up {
			only.Up[link.Rack] = p.Up[link.Rack]
		} else {
			only.Down[link.Rack] = p.Down[link.Rack]
		}
		atLink, _ = transfer(only, a.Rack)
		require.InDelta(t, longest, atLink, 1e-9*longest, "the bottleneck %v is shorter than the longest transfer", link)
	}
	require.LessOrEqual(t, a.Bound, a.Seconds)
	require.GreaterOrEqual(t, a.Bound, 0.0)
	if a.Optimal {
		require.Equal(t, a.Seconds, a.Bound)
		require.Equal(t, a.Bound, a.Seconds)
	}
}

func infinite(n int) []float64 { return slices.Repeat([]float64{math.Inf(1)}, n) }

func TestEqualsBruteForceOnRandomProblems(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	infeasible := 0
	for range part(3000, 3) {
		tasks, racks := rng.IntN(6), 1+rng.IntN(4)
		p := randomProblem(rng, tasks, racks)
		want := bruteForce(p)
		a, err := Assign(p, DefaultEffort)
		if math.IsInf(want, 1) {
			infeasible++
			require.Error(t, err, "%+v", p)
			continue
		}
		require.NoError(t, err, "%+v", p)
		checked(t, p, a)
		require.True(t, a.Optimal, "%+v: %v", p, a)
		require.InDelta(t, want, a.Seconds, 1e-8*want, "%+v", p)

		hasty, err := Assign(p, 1)
		require.NoError(t, err)
		checked(t, p, hasty)
		require.LessOrEqual(t, hasty.Bound, want*(1+1e-8), "the bound exceeds the optimum: %+v", p)
	}
	assert.Greater(t, infeasible, 100)
}

// The test solves every problem of two or three tasks on two racks, and of two tasks on three racks. An input is 0, 1
// or 3, and a link is slow or fast.
func TestEqualsBruteForceOnAllTinyProblems(t *testing.T) {
	for _, size := range [][2]int{{2, 2}, {3, 2}, {2, 3}} {
		tasks, racks := size[0], size[1]
		p := Problem{Up: make([]float64, racks), Down: make([]float64, racks)}
		for range tasks {
			p.Input = append(p.Input, make([]float64, racks))
		}
		links := 1 << (2 * racks)
		if sampled {
			links = 4
		}
		for l := range links {
			for j := range racks {
				p.Up[j], p.Down[j] = float64(1+l>>(2*j)&1), float64(1+l>>(2*j+1)&1)
			}
			for code := range int(math.Pow(3, float64(tasks*racks))) {
				for i := range tasks * racks {
					p.Input[i/racks][i%racks] = []float64{0, 1, 3}[code%3]
					code /= 3
				}
				a, err := Assign(p, DefaultEffort)
				if want := bruteForce(p); err != nil || !a.Optimal || math.Abs(a.Seconds-want) > 1e-9*want {
					t.Fatalf("%+v: got %v, error %v, want %v", p, a, err, want)
				}
			}
		}
	}
}

func TestNeverWorseThanSimplePlacements(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{7, 5}, {20, 5}, {60, 10}} {
		for _, family := range families {
			for seed := range uint64(part(2, 2)) {
				p := instance(family, size[0], size[1], seed)
				for _, effort := range []Effort{1, 100_000, DefaultEffort} {
					a, err := Assign(p, effort)
					require.NoError(t, err)
					checked(t, p, a)
					name := instanceName(family, size[0], size[1], seed)
					assert.LessOrEqual(t, a.Seconds, dealtOut(p)*(1+1e-12), "%s, effort %d: the answer is worse than tasks dealt out in turn", name, effort)
					if rack := oneAtATime(p); !slices.Contains(rack, nowhere) {
						one, _ := transfer(p, rack)
						assert.LessOrEqual(t, a.Seconds, one*(1+1e-12), "%s, effort %d: the answer is worse than tasks placed one by one", name, effort)
					}
				}
			}
		}
	}
}

func TestMoreBandwidthNeverLengthens(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for range part(300, 2) {
		p := randomProblem(rng, 1+rng.IntN(6), 2+rng.IntN(3))
		before, err := Assign(p, DefaultEffort)
		if err != nil {
			continue
		}
		widen(rng, &p)
		after, err := Assign(p, DefaultEffort)
		require.NoError(t, err)
		require.LessOrEqual(t, after.Bound, before.Bound*(1+1e-8))
		require.LessOrEqual(t, after.Seconds, before.Seconds*(1+1e-8))
	}
	for seed := range uint64(part(20, 4)) {
		p := instance(families[seed%5], 40, 8, seed)
		m := newModel(&p)
		before := math.Ldexp(linearProgram(t, m), m.exponent)
		widen(rng, &p)
		m = newModel(&p)
		require.LessOrEqual(t, math.Ldexp(relaxed(t, m).best, m.exponent), before*(1+1e-8))
	}
}

func widen(rng *rand.Rand, p *Problem) {
	p.Up, p.Down = slices.Clone(p.Up), slices.Clone(p.Down)
	for range 1 + rng.IntN(3) {
		j := rng.IntN(len(p.Up))
		p.Up[j] += float64(rng.IntN(100))
		p.Down[j] += float64(rng.IntN(100))
	}
}

// A change of the unit of bytes by a power of two changes only the seconds.
func TestUnitsDoNotMatter(t *testing.T) {
	p := instance("skewed", 20, 5, 1)
	want, err := Assign(p, DefaultEffort)
	require.NoError(t, err)
	for _, exponent := range []int{-300, -30, 40, 900} {
		q := Problem{Up: p.Up, Down: p.Down}
		for _, row := range p.Input {
			scaled := slices.Clone(row)
			for j := range scaled {
				scaled[j] = math.Ldexp(scaled[j], exponent)
			}
			q.Input = append(q.Input, scaled)
		}
		got, err := Assign(q, DefaultEffort)
		require.NoError(t, err)
		assert.Equal(t, want.Rack, got.Rack)
		assert.Equal(t, math.Ldexp(want.Seconds, exponent), got.Seconds)
	}
}

func TestAssignRepeatsItsAnswerAndKeepsTheProblem(t *testing.T) {
	p, untouched := instance("tight", 40, 10, 3), instance("tight", 40, 10, 3)
	first, err := Assign(p, DefaultEffort)
	require.NoError(t, err)
	second, err := Assign(p, DefaultEffort)
	require.NoError(t, err)
	assert.Equal(t, first, second)
	assert.Equal(t, untouched, p)
}

// In these problems the best placement leaves nearly all data in its rack. So the times of uplinks are small
// differences of large numbers. The answer must still be right, and no wrong bound may be called proven.
func TestAnswersAreRightForNearlyLocalData(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	optimal, problems := 0, part(300, 2)
	for range problems {
		tasks, racks := 1+rng.IntN(6), 2+rng.IntN(3)
		p := Problem{}
		for range racks {
			p.Up, p.Down = append(p.Up, 1+rng.Float64()), append(p.Down, 1+rng.Float64())
		}
		for range tasks {
			row := make([]float64, racks)
			for j := range row {
				row[j] = rng.Float64()
			}
			row[rng.IntN(racks)] = math.Pow(10, float64(rng.IntN(18))) * rng.Float64()
			p.Input = append(p.Input, row)
		}
		want := bruteForce(p)
		a, err := Assign(p, DefaultEffort)
		require.NoError(t, err)
		checked(t, p, a)
		require.InDelta(t, want, a.Seconds, 1e-8*want)
		require.LessOrEqual(t, a.Bound, want*(1+1e-8))
		if a.Optimal {
			optimal++
		}
	}
	assert.Greater(t, optimal, problems*9/10)
}
