package survival_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate/survival"
	"github.com/straggler-go/straggler/internal/snapshot/snapshottest"
)

func TestAWindowKeepsRunningRunsAndForgetsOldRuns(t *testing.T) {
	_, err := survival.NewWindow(survival.WindowConfig{Keep: 0})
	require.ErrorContains(t, err, "estimate/survival: WindowConfig.Keep is 0s, want")
	w, err := survival.NewWindow(survival.WindowConfig{Keep: time.Minute})
	require.NoError(t, err)
	at := func(s int) time.Time { return time.Unix(int64(s), 0) }
	a, b, c := w.Start(at(0)), w.Start(at(0)), w.Start(at(0))
	w.End(at(10), a, true)
	w.End(at(20), b, false)
	w.Drop(at(20), c)
	w.End(at(20), c, true)
	w.End(at(20), -1, true)
	d := w.Start(at(20))
	assert.Equal(t, 3, w.Curve(at(30)).Len(), "a run ended, a run was killed, and a run runs")
	assert.Equal(t, 1, w.Curve(at(30)).Ends())
	assert.Equal(t, 20., w.Curve(at(30)).Longest())
	assert.Equal(t, 10., w.Age(at(30), d))
	assert.Equal(t, 2, w.Curve(at(71)).Len(), "the first end is out of the window")
	assert.Equal(t, 1, w.Curve(at(1000)).Len(), "a running run stays")
	for i := range 20_000 {
		w.End(at(1000+i%2), w.Start(at(1000)), true)
	}
	assert.LessOrEqual(t, w.Curve(at(1001)).Len(), 4097)
}

// windowed computes the curve of a window anew: from the ends of the last 100 s, and from the running runs. Times are
// in milliseconds.
func windowed(now int, ends [][3]int, began map[int]int) *survival.Curve {
	c := new(survival.Curve)
	for _, e := range ends {
		if now-e[0] <= 100_000 {
			c.Observe((time.Duration(e[1]) * time.Millisecond).Seconds(), e[2] > 0)
		}
	}
	for _, at := range began {
		c.Observe((time.Duration(now-at) * time.Millisecond).Seconds(), false)
	}
	c.Fit()
	return c
}

// The curve is current, unless less than a sixteenth of its runs has changed within a thousandth of the window; then
// it stays. A restored window gives the same answers as the window that was saved.
func TestAWindowRefitsRarelyAndIsRestoredExactly(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	w, err := survival.NewWindow(survival.WindowConfig{Keep: 100 * time.Second})
	require.NoError(t, err)
	var ends [][3]int
	began, now, fitted, since, same, fits := map[int]int{}, 0, 0, 0, 0, 0
	last := windowed(0, nil, nil)
	twin := new(survival.Window)
	for step := range 4000 {
		now += rng.IntN(40) // milliseconds
		at := time.UnixMilli(int64(now))
		if step%50 == 0 {
			data, err := w.MarshalBinary()
			require.NoError(t, err)
			require.NoError(t, twin.UnmarshalBinary(data))
			again, _ := twin.MarshalBinary()
			require.Equal(t, data, again)
		}
		ids := slices.Sorted(maps.Keys(began))
		switch k := rng.IntN(10); {
		case k < 4 || k == 9 && len(ids) < 40:
			id := w.Start(at)
			require.Equal(t, id, twin.Start(at))
			began[id] = now
			since++
		case k < 7 && len(ids) > 0:
			id := ids[rng.IntN(len(ids))]
			if k < 6 {
				w.End(at, id, k < 5)
				twin.End(at, id, k < 5)
				ends = append(ends, [3]int{now, now - began[id], 5 - k})
			} else {
				w.Drop(at, id)
				twin.Drop(at, id)
			}
			delete(began, id)
			since++
		}
		if step == 0 || since > last.Len()/16 || now-fitted > 97 {
			last, since, fitted = windowed(now, ends, began), 0, now
			fits++
		} else {
			same++
		}
		for _, c := range []*survival.Curve{w.Curve(at), twin.Curve(at)} {
			require.Equal(t, last.Len(), c.Len(), "step %d", step)
			require.InDelta(t, 1/(1+last.Mean()), 1/(1+c.Mean()), 1e-9) // the mean of an empty curve is +Inf
			require.InDelta(t, last.Above(10), c.Above(10), 1e-9)
		}
	}
	assert.Greater(t, same, 2*fits, "most answers need no fit")
	assert.Greater(t, fits, 100)
}

func TestWindowRefusesDamagedSnapshots(t *testing.T) {
	w, err := survival.NewWindow(survival.WindowConfig{Keep: time.Minute})
	require.NoError(t, err)
	for i := range 5 {
		w.End(time.Unix(int64(10+i), 0), w.Start(time.Unix(int64(i), 0)), true)
	}
	w.Start(time.Unix(20, 0))
	w.Curve(time.Unix(21, 0))
	data, err := w.MarshalBinary()
	require.NoError(t, err)
	for n := range data {
		assert.ErrorContains(t, new(survival.Window).UnmarshalBinary(data[:n]), "estimate/survival: Window", "a snapshot cut to %d bytes", n)
	}
	assert.Error(t, new(survival.Window).UnmarshalBinary(append(data, 0)))
	snapshottest.Flips(t, data, new(survival.Window).UnmarshalBinary)
	data[0]++
	before := w.Curve(time.Unix(22, 0)).Mean()
	assert.Error(t, w.UnmarshalBinary(data), "a snapshot of another version is refused")
	assert.Equal(t, before, w.Curve(time.Unix(22, 0)).Mean(), "the window is unchanged")
}

func TestWindowDoesNotAllocate(t *testing.T) {
	w, err := survival.NewWindow(survival.WindowConfig{Keep: time.Minute})
	require.NoError(t, err)
	now := time.Unix(0, 0)
	poll := func() {
		now = now.Add(time.Second)
		id := w.Start(now)
		w.End(now.Add(time.Second/2), id, true)
		w.Curve(now.Add(time.Second / 2))
	}
	for range 10_000 {
		poll()
	}
	assert.Zero(t, testing.AllocsPerRun(500, poll))
}

// BenchmarkWindow asks for the curve at each start and end of requests that take 50 ms, a thousand a second.
func BenchmarkWindow(b *testing.B) {
	w, err := survival.NewWindow(survival.WindowConfig{Keep: time.Minute})
	require.NoError(b, err)
	now, ids := time.Unix(0, 0), [50]int{}
	for i := range ids {
		ids[i] = w.Start(now)
	}
	i := 0
	b.ReportAllocs()
	for b.Loop() {
		now = now.Add(time.Millisecond)
		w.End(now, ids[i%50], true)
		ids[i%50] = w.Start(now)
		w.Curve(now)
		i++
	}
}
