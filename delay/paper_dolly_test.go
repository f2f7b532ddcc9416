package delay

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The read times of two clones, and of more, against a simulation of the transfers.
func TestReadTimes_Dolly44(t *testing.T) {
	for _, clones := range []int{2, 3, 5} {
		for _, alpha := range []float64{.3, .5, .7, 1} {
			for _, x := range []float64{0, .5, 1.7, 3, 4} {
				const alone = 4.0
				tr := Transfer{Contention: alpha, Clones: clones}
				ends := simulateSharing(clones, alone, alpha, x)
				mean := 0.0
				for _, e := range ends {
					mean += e / float64(clones)
				}
				assert.InDelta(t, mean, tr.read(x, alone, 1), 1e-9, "c=%d α=%v ω=%v", clones, alpha, x)
				assert.InDelta(t, alone+x*float64(clones-1)/float64(clones), tr.read(x, alone, 0), 1e-9)
				tr.Reader = LastReader
				assert.InDelta(t, slices.Max(ends), tr.read(x, alone, 1), 1e-9)
				assert.InDelta(t, alone+x, tr.read(x, alone, 0), 1e-9)
			}
		}
	}
}

// simulateSharing has one clone read an output from 0 on and the others from x on, in small steps of time between
// events, and returns when each is done. One reader gets 1 unit a second, more get alpha each; there are alone units.
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

// The window is picked from samples: it is 0 where sharing costs nothing, long enough for the usual lag where sharing
// costs much, and never as long as the lag of a straggler.
func TestWindow_Dolly44(t *testing.T) {
	// 100 MB at 10 MB/s. Eight copies of nine come within 3 s, the ninth straggles.
	lags := []time.Duration{1, 1, 2, 2, 2, 3, 3, 3, 80}
	for i := range lags {
		lags[i] *= time.Second
	}
	tr := Transfer{Lags: lags, Size: 100e6, Bandwidth: 10e6, Contention: .5}
	best, err := Window(tr)
	require.NoError(t, err)
	assert.Equal(t, 3*time.Second, best.Window)
	assert.InDelta(t, 1./9, best.Sharing, 1e-15)
	// ω = 3: shared 1.5·3 + 7/.5 = 18.5 s, own 10 + 1.5 = 11.5 s; ω = 0: 20 s; ω = 10: 15 s.
	assert.InDelta(t, 18.5/9+11.5*8/9, best.Read.Seconds(), 1e-9)
	assert.InDelta(t, 20, best.AtOnce.Seconds(), 1e-9)
	assert.InDelta(t, 15, best.InTurn.Seconds(), 1e-9)

	tr.Contention = 1
	best, err = Window(tr)
	require.NoError(t, err)
	assert.Zero(t, best.Window)

	tr.Contention, tr.Lags = .3, []time.Duration{Forever}
	best, err = Window(tr)
	require.NoError(t, err)
	assert.Equal(t, 10*time.Second, best.Window, "no second copy ever comes, and reading in turn beats sharing")

	tr.Contention, tr.Reader = .5, LastReader
	best, err = Window(tr)
	require.NoError(t, err)
	assert.Equal(t, best.AtOnce, best.InTurn)
	assert.Zero(t, best.Window, "of equals, the shortest")
}

// Every clone waits for ω, for a copy of its own, and then shares; copies that have not finished by then are killed. A
// window of 0 is contention cloning, one without end contention-avoidance cloning.
func TestAssign_Dolly44(t *testing.T) {
	const w = 3 * time.Second
	in := func(waited time.Duration, copies ...Copy) Input { return Input{Copies: copies, Waited: waited} }
	free, taken, runs, lost := Copy{State: Finished}, Copy{State: Finished, Readers: 1}, Copy{}, Copy{State: Failed}
	for _, b := range []struct {
		window time.Duration
		inputs []Input
		want   Assignment
	}{
		{w, []Input{in(0, runs, runs)}, Assignment{Reason: NothingFinished}},
		{w, []Input{in(0, runs, free)}, Assignment{Action: Read, Reason: OwnCopy, Copy: 1}},
		{w, []Input{in(time.Second, taken, runs)}, Assignment{Reason: WindowOpen, Wait: 2 * time.Second}},
		{w, []Input{in(w-1, taken, runs)}, Assignment{Reason: WindowOpen, Wait: 1}},
		{w, []Input{in(w, taken, runs)}, Assignment{Action: Share, Reason: WindowOver, KillRest: true}},
		{0, []Input{in(0, taken, runs)}, Assignment{Action: Share, Reason: WindowOver, KillRest: true}},
		{Forever, []Input{in(time.Hour, taken, runs)}, Assignment{Reason: WindowOpen}},
		{w, []Input{in(0, taken, lost)}, Assignment{Action: Share, Reason: NoMoreCopies}},
		{w, []Input{in(0, lost, lost)}, Assignment{Reason: NothingLeft}},
		{w, nil, Assignment{Reason: NothingLeft}},
		// A clock that stepped back, and a window that makes no sense.
		{0, []Input{in(-1, taken, runs)}, Assignment{Action: Share, Reason: WindowOver, KillRest: true}},
		{w, []Input{in(-1, taken, runs)}, Assignment{Reason: WindowOpen, Wait: w}},
		{-w, []Input{in(-2*w, taken, runs)}, Assignment{Action: Share, Reason: WindowOver, KillRest: true}},
		{math.MinInt64, []Input{in(1, taken, runs)}, Assignment{Action: Share, Reason: WindowOver, KillRest: true}},
		// Three clones: the least crowded copy is shared, the first of equals.
		{w, []Input{in(w, Copy{Finished, 2}, taken, taken)}, Assignment{Action: Share, Reason: NoMoreCopies, Copy: 1}},
		// Several inputs: a copy of one's own first, then a window that is over, then the shortest wait.
		{w, []Input{in(w, taken, runs), in(0, runs), in(0, free, taken)}, Assignment{Action: Read, Reason: OwnCopy, Input: 2}},
		{w, []Input{in(1, taken, runs), in(w, taken, runs)}, Assignment{Action: Share, Reason: WindowOver, Input: 1, KillRest: true}},
		{w, []Input{in(0, runs), in(time.Second, taken, runs), in(2*time.Second, taken, runs)}, Assignment{Reason: WindowOpen, Wait: time.Second}},
	} {
		assert.Equal(t, b.want, Assign(b.inputs, b.window), "%+v", b)
	}
}
