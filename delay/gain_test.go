package delay

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/internal/snapshot/snapshottest"
)

func TestGainLimits(t *testing.T) {
	for _, b := range []struct{ wait, spacing, cost, want time.Duration }{
		{0, 3, 10, 0},
		{0, Forever, Forever, 0},
		{Forever, 3, 10, 7},
		{Forever, 10, 3, -7},
		{5, Forever, 10, -5},
		{Forever, Forever, 10, -Forever},
		{5, Forever, Forever, -5},
		{5, 0, 10, 10},
		{5, 3, Forever, Forever},
		{Forever, Forever - 1, 0, -Forever},
	} {
		g, err := Gain(b.wait, b.spacing, b.cost)
		require.NoError(t, err)
		assert.InDelta(t, float64(b.want), float64(g), math.Abs(float64(b.want))*1e-12, "%+v", b)
	}
	p, err := LocalWithin(2*time.Second, time.Second, 1)
	require.NoError(t, err)
	assert.Equal(t, 1., p)
	p, err = LocalWithin(2*time.Second, time.Second, 0)
	require.NoError(t, err)
	assert.Zero(t, p)
}

// Slots that come at random, one every t on average: the estimate scatters around t, whenever it is asked for.
func TestSpacingOfRandomSlots(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 3))
	const mean, trials = 4.0, 4000
	sum := 0.0
	for range trials {
		var s Spacing
		now := 0.0
		s.Watch(at(now))
		next := now + mean*rng.ExpFloat64()
		for now = 400; next < now; next += mean * rng.ExpFloat64() {
			s.Local(at(next))
		}
		got, known := s.Mean(at(now))
		require.True(t, known)
		sum += got.Seconds() / trials
	}
	assert.InDelta(t, mean, sum, .1*mean, "of twenty slots, 5 % is bias")
}

func TestSpacing(t *testing.T) {
	var s Spacing
	s.Local(at(100)) // with nothing watched before it
	got, known := s.Mean(at(130))
	assert.False(t, known)
	assert.Equal(t, 30*time.Second, got, "at least")
	s.Local(at(140))
	got, known = s.Mean(at(140))
	assert.True(t, known)
	assert.Equal(t, 40*time.Second, got)
	s.Local(at(10)) // the clock steps back, and time goes on from there
	s.Local(at(30))
	s.Local(at(31))
	s.Local(at(32))
	got, _ = s.Mean(at(32))
	assert.InDelta(t, 62./5, got.Seconds(), 1.2)
	early, _ := s.Mean(at(33))
	late, _ := s.Mean(at(500))
	assert.Greater(t, late, early, "none came")
	for i := range 300 {
		s.Local(at(500 + float64(i)))
	}
	got, _ = s.Mean(at(800))
	assert.InDelta(t, 1, got.Seconds(), .1, "what was long ago is forgotten")
}

func TestRemoteCost(t *testing.T) {
	c, err := NewRemoteCost(RemoteCostConfig{MinSamples: 3, Keep: 50})
	require.NoError(t, err)
	for i := range 3 {
		_, known := c.Of(2)
		assert.False(t, known)
		c.Observe(0, time.Duration(9+i)*time.Second)
		c.Observe(2, time.Duration(19+i)*time.Second)
		c.Observe(1, time.Second)
	}
	d, known := c.Of(2)
	assert.True(t, known)
	assert.InDelta(t, 10, d.Seconds(), .05)
	d, known = c.Of(1)
	assert.True(t, known)
	assert.Zero(t, d, "sooner than where the data is: no cost")
	d, known = c.Of(0)
	assert.True(t, known)
	assert.Zero(t, d)
	_, known = c.Of(3)
	assert.False(t, known)
	_, known = c.Of(-1)
	assert.False(t, known)
	assert.False(t, c.Observe(0, 0))
	assert.False(t, c.Observe(-1, 1))

	data, err := c.MarshalBinary()
	require.NoError(t, err)
	var restored RemoteCost
	require.NoError(t, restored.UnmarshalBinary(data))
	for range 500 { // the network becomes slower, and what was long ago is forgotten
		for _, cost := range []*RemoteCost{c, &restored} {
			cost.Observe(0, 10*time.Second)
			cost.Observe(2, 40*time.Second)
		}
		want, _ := c.Of(2)
		got, known := restored.Of(2)
		require.True(t, known)
		require.Equal(t, want, got)
	}
	d, _ = c.Of(2)
	assert.InDelta(t, 30, d.Seconds(), .01)
	snapshottest.Flips(t, data, restored.UnmarshalBinary)
	assert.ErrorContains(t, restored.UnmarshalBinary(data[:9]), "delay: RemoteCost: snapshot: ")
	var zero, again RemoteCost
	data, err = zero.MarshalBinary()
	require.NoError(t, err)
	require.NoError(t, again.UnmarshalBinary(data))
	assert.True(t, again.Observe(2, time.Second))
}

// The least number of copies with which all that wait are served in time, by trying each.
func TestHotSpotAgainstTryingEach(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	seen := map[Heat]int{}
	for range 5000 {
		f := File{Waiting: rng.IntN(100), Replicas: 1 + rng.IntN(4), TaskTime: time.Duration(1+rng.IntN(60)) * time.Second}
		perCopy := 1 + rng.IntN(5)
		f.Slots = f.Replicas * perCopy
		limit, most := time.Duration(1+rng.IntN(60))*time.Second, rng.IntN(20)
		want := f.Replicas
		for time.Duration(f.Waiting)*f.TaskTime > limit*time.Duration(perCopy*want) && want < most {
			want++
		}
		h := DecideReplicas(f, limit, most)
		seen[h.Heat]++
		require.Equal(t, want, h.Replicas, "%+v %v %d: %v", f, limit, most, h)
		require.Equal(t, want > f.Replicas, h.Heat == Hot, "%+v %v %d: %v", f, limit, most, h)
		require.Equal(t, h.Heat == Served, h.Drains <= limit)
	}
	assert.Len(t, seen, 3)
	fine := File{Waiting: 1, Replicas: 1, Slots: 1, TaskTime: 1}
	for _, change := range []func(*File){
		func(f *File) { f.Waiting = -1 }, func(f *File) { f.Replicas = 0 }, func(f *File) { f.Slots = 0 }, func(f *File) { f.TaskTime = 0 },
	} {
		f := fine
		change(&f)
		assert.Equal(t, Unknown, DecideReplicas(f, time.Second, 5).Heat)
	}
	assert.Equal(t, Unknown, DecideReplicas(fine, 0, 5).Heat)
	huge := File{Waiting: math.MaxInt, Replicas: 1, Slots: 1, TaskTime: math.MaxInt64}
	assert.Equal(t, HotSpot{Heat: Hot, Replicas: math.MaxInt, Drains: math.MaxInt64, Limit: 1}, DecideReplicas(huge, 1, math.MaxInt))
}
