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

// Each test checks a statement of Ananthanarayanan et al., NSDI 2013. Its name ends with the section.

// The read times of two or more clones equal a simulation of the transfers (§4.4 step 1).
func TestReadTimes_Dolly44Step1(t *testing.T) {
	for _, clones := range []int{2, 3, 5} {
		for _, alpha := range []float64{.3, .5, .7, 1} {
			for _, x := range []float64{0, .5, 1.7, 3, 4} {
				const alone = 4.0
				m := Model{Lags: []time.Duration{0, Forever}, Size: alone, Bandwidth: 1, Contention: alpha, Clones: clones}
				o, err := m.At(time.Duration(x * 1e9))
				require.NoError(t, err)
				ends := simulateSharing(clones, alone, alpha, x)
				assert.InDelta(t, alone, o.First.Own.Seconds(), 1e-9)
				assert.InDelta(t, alone+x, o.Other.Own.Seconds(), 1e-9, "the only read time that is legible in the paper")
				assert.InDelta(t, slices.Min(ends), o.First.Shared.Seconds(), 2e-9, "c=%d α=%v ω=%v", clones, alpha, x)
				assert.InDelta(t, slices.Max(ends), o.Other.Shared.Seconds(), 2e-9, "c=%d α=%v ω=%v", clones, alpha, x)
				own, shared := 0.0, 0.0
				for i, e := range ends {
					shared += e / float64(clones)
					own += (alone + x*float64(min(i, 1))) / float64(clones)
				}
				assert.Equal(t, .5, o.Sharing)
				assert.InDelta(t, (own+shared)/2, o.Read.Seconds(), 2e-9, "p_c T_C + (1 - p_c) T_E")
				assert.Equal(t, o.Read, o.TaskTime, "without computation times, TaskTime must equal Read")
			}
		}
	}
}

// simulateSharing simulates clones that read the same output. One clone reads from time 0 on, and the others from
// time x on. The output has alone units. A single reader reads 1 unit a second, and each of several readers alpha
// units. The result is the time at which each clone ends.
func simulateSharing(clones int, alone, alpha, x float64) []float64 {
	left := make([]float64, clones)
	ends := make([]float64, clones)
	for i := range left {
		left[i] = alone
	}
	for now := 0.0; ; {
		active, next := 0, math.Inf(1)
		for i := range left {
			if left[i] > 1e-12 && (i == 0 || now >= x) {
				active++
			}
		}
		if active == 0 && now >= x {
			return ends
		}
		rate := 1.0
		if active > 1 {
			rate = alpha
		}
		if now < x {
			next = x - now
		}
		for i := range left {
			if left[i] > 1e-12 && (i == 0 || now >= x) {
				next = min(next, left[i]/rate)
			}
		}
		for i := range left {
			if left[i] > 1e-12 && (i == 0 || now >= x) {
				if left[i] -= rate * next; left[i] <= 1e-12 {
					ends[i] = now + next
				}
			}
		}
		now += next
		if math.Abs(now-x) < 1e-12 {
			now = x
		}
	}
}

// ChooseWindow derives the window from samples. The window is 0 if sharing costs nothing. If sharing costs much, the
// window is long enough for the typical lag. The window is never as long as the lag of a straggler.
func TestWindow_Dolly44(t *testing.T) {
	// An output has 100 MB, and a read has 10 MB/s. Eight outputs out of nine come within 3 s, and the ninth straggles.
	lags := []time.Duration{1, 1, 2, 2, 2, 3, 3, 3, 80}
	for i := range lags {
		lags[i] *= time.Second
	}
	m := Model{Lags: lags, Size: 100e6, Bandwidth: 10e6, Contention: .5}
	best, err := ChooseWindow(m)
	require.NoError(t, err)
	assert.Equal(t, 3*time.Second, best.Window)
	assert.InDelta(t, 1./9, best.Sharing, 1e-15)
	// For ω = 3 a shared read takes 1.5·3 + 7/.5 = 18.5 s, and an own read takes 10 + 1.5 = 11.5 s. For ω = 0 a read
	// takes 20 s, and for ω = 10 it takes 15 s.
	assert.InDelta(t, 18.5/9+11.5*8/9, best.Read.Seconds(), 1e-9)
	assert.InDelta(t, 20, best.AtOnce.Read.Seconds(), 1e-9)
	assert.InDelta(t, 15, best.InTurn.Read.Seconds(), 1e-9)

	m.Contention = 1
	best, err = ChooseWindow(m)
	require.NoError(t, err)
	assert.Zero(t, best.Window)

	m.Contention, m.Lags = .3, []time.Duration{Forever}
	best, err = ChooseWindow(m)
	require.NoError(t, err)
	assert.Equal(t, 10*time.Second, best.Window, "no second output ever comes, and reading in turn is faster than sharing")
}

// Every clone waits for at most ω for an output that no other clone reads, and then shares an output. Upstream
// clones that have not finished by then are killed. A window of 0 is contention cloning (CC), and an endless
// window is contention-avoidance cloning (CAC).
func TestDecide_Dolly44(t *testing.T) {
	const w = 3 * time.Second
	in := func(waited time.Duration, outputs ...Clone) Input { return Input{Clones: outputs, Waited: waited} }
	free, taken, runs, lost := Clone{State: Finished}, Clone{State: Finished, Readers: 1}, Clone{}, Clone{State: Failed}
	for _, b := range []struct {
		window time.Duration
		inputs []Input
		want   Decision
	}{
		{w, []Input{in(0, runs, runs)}, Decision{Reason: NothingFinished}},
		{w, []Input{in(0, runs, free)}, Decision{Action: Read, Reason: OwnOutput, Clone: 1}},
		{w, []Input{in(0, free, free)}, Decision{Action: Read, Reason: OwnOutput}},
		{w, []Input{in(time.Second, taken, runs)}, Decision{Reason: WindowOpen, Wait: 2 * time.Second}},
		{w, []Input{in(w-1, taken, runs)}, Decision{Reason: WindowOpen, Wait: 1}},
		{w, []Input{in(w, taken, runs)}, Decision{Action: ReadShared, Reason: WindowOver, KillRest: true}},
		{0, []Input{in(0, taken, runs)}, Decision{Action: ReadShared, Reason: WindowOver, KillRest: true}},
		{Forever, []Input{in(time.Hour, taken, runs)}, Decision{Reason: WindowOpen}},
		{w, []Input{in(0, taken, lost)}, Decision{Action: ReadShared, Reason: NoMoreOutputs}},
		{w, []Input{in(0, lost, lost)}, Decision{Reason: NothingLeft}},
		{w, nil, Decision{Reason: NothingLeft}},
		// A negative wait, and a negative window.
		{0, []Input{in(-1, taken, runs)}, Decision{Action: ReadShared, Reason: WindowOver, KillRest: true}},
		{w, []Input{in(-1, taken, runs)}, Decision{Reason: WindowOpen, Wait: w}},
		{-w, []Input{in(-2*w, taken, runs)}, Decision{Action: ReadShared, Reason: WindowOver, KillRest: true}},
		{math.MinInt64, []Input{in(1, taken, runs)}, Decision{Action: ReadShared, Reason: WindowOver, KillRest: true}},
		// With three clones, the clone shares the output with the fewest readers. If several outputs have the
		// fewest readers, it shares the first.
		{w, []Input{in(w, Clone{Finished, 2}, taken, taken)}, Decision{Action: ReadShared, Reason: NoMoreOutputs, Clone: 1}},
		// With several inputs, an output that the clone can read alone comes first. Then comes an input whose
		// window is over, and then the shortest wait.
		{w, []Input{in(w, taken, runs), in(0, runs), in(0, free, taken)}, Decision{Action: Read, Reason: OwnOutput, Input: 2}},
		{w, []Input{in(1, taken, runs), in(w, taken, runs)}, Decision{Action: ReadShared, Reason: WindowOver, Input: 1, KillRest: true}},
		{w, []Input{in(0, runs), in(time.Second, taken, runs), in(2*time.Second, taken, runs)}, Decision{Reason: WindowOpen, Wait: time.Second}},
	} {
		assert.Equal(t, b.want, Decide(b.inputs, b.window), "%+v", b)
	}
}

// Equation 2 assumes that the good outputs of all upstream tasks go to the same downstream clones (§4.2). With
// Input.Ahead, Decide achieves this for every order in which the clones ask. Without Ahead, a job straggles far more
// often.
func TestCoordinatedPairing_Dolly42(t *testing.T) {
	const n, c, p, jobs = 10, 3, .1, 3000
	rng := rand.New(rand.NewPCG(4, 2))
	straggling := map[bool]float64{}
	for _, coordinated := range []bool{false, true} {
		for range jobs {
			if cacStraggles(rng, n, c, p, coordinated) {
				straggling[coordinated] += 1. / jobs
			}
		}
	}
	assert.InDelta(t, .233, straggling[true], .025) // equation 2, with three standard deviations
	assert.Greater(t, straggling[false], .55)

	// A clone with no clone ahead gets the first of three good copies, and a clone with two ahead gets the last.
	free := Clone{State: Finished}
	for ahead := range 3 {
		d := Decide([]Input{{Clones: []Clone{free, free, free}, Ahead: ahead}}, Forever)
		assert.Equal(t, Decision{Action: Read, Reason: OwnOutput, Clone: ahead}, d)
	}
}

// cacStraggles simulates two phases of n tasks with c clones each, under contention-avoidance cloning. The result
// says whether the job straggles: whether a downstream task has no good clone that read only good outputs.
func cacStraggles(rng *rand.Rand, n, c int, p float64, coordinated bool) bool {
	good := make([]int, n) // by upstream task: number of clones that finish in time
	for u := range good {
		for range c {
			if rng.Float64() >= p {
				good[u]++
			}
		}
	}
	for range n { // downstream tasks
		fed := make([]int, c) // by clone: number of inputs read from a good output
		for u := range n {
			outputs := make([]Clone, c)
			for i := range good[u] {
				outputs[i].State = Finished
			}
			asked := make([]bool, c)
			for _, clone := range rng.Perm(c) {
				in := Input{Clones: outputs}
				for other := range clone {
					if coordinated && !asked[other] {
						in.Ahead++
					}
				}
				if d := Decide([]Input{in}, Forever); d.Action == Read {
					outputs[d.Clone].Readers++
					asked[clone] = true
					fed[clone]++
				}
			}
		}
		fine := false
		for clone := range c {
			fine = fine || fed[clone] == n && rng.Float64() >= p
		}
		if !fine {
			return true
		}
	}
	return false
}
