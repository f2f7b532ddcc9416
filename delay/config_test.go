package delay

import (
	"math"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestBadArguments(t *testing.T) {
	config := func(c Config) error { _, err := New(c); return err }
	transfer := func(change func(*Transfer)) error {
		tr := Transfer{Lags: []time.Duration{1, 2}, Size: 1, Bandwidth: 1, Contention: .5}
		change(&tr)
		best, err := Window(tr)
		assert.Zero(t, best)
		return err
	}
	windows := func(c WindowsConfig) error { _, err := NewWindows(c); return err }
	classes := func(c ...Class) error { _, err := NewBiased(c...); return err }
	gain := func(w, s, d time.Duration) error { _, err := Gain(w, s, d); return err }
	within := func(w, task time.Duration, slots int) error { _, err := LocalWithin(w, task, slots); return err }
	rate := func(bytes float64, took time.Duration) error { _, err := ReadRate(bytes, took); return err }
	inputs := func(p Pattern, task, up, down int) error { _, _, err := p.Inputs(task, up, down); return err }
	for _, b := range []struct {
		err  error
		want string
	}{
		{config(Config{Waits: []time.Duration{1, -1}}), "delay: Waits[1] is -1ns, want a duration, 0 or more"},
		{config(Config{Misses: []int{-1}}), "delay: Misses[0] is -1, want 0 or more"},
		{config(Config{Misses: []int{1}, Waits: []time.Duration{1}}), "delay: Waits is [1ns] and Misses is [1], want one of them"},
		{config(Config{Waits: make([]time.Duration, 64)}), "delay: Waits and Misses make 65 levels, want at most 64"},
		{config(Config{Reset: 3}), "delay: Reset is Reset(3), want OnLaunch, ToLaunched or NoRejection"},
		{transfer(func(t *Transfer) { t.Lags = nil }), "delay: Lags has no rows, want one or more"},
		{transfer(func(t *Transfer) { t.Lags[1] = -5 }), "delay: Lags[1] is -5ns, want a duration, 0 or more"},
		{transfer(func(t *Transfer) { t.Size = math.NaN() }), "delay: Size is NaN, want a finite number of bytes, 0 or more"},
		{transfer(func(t *Transfer) { t.Bandwidth = -3 }), "delay: Bandwidth is -3, want a finite rate above 0"},
		{transfer(func(t *Transfer) { t.Bandwidth = 0 }), "delay: Bandwidth is 0, want a finite rate above 0"},
		{transfer(func(t *Transfer) { t.Bandwidth = math.Inf(1) }), "delay: Bandwidth is +Inf, want a finite rate above 0"},
		{transfer(func(t *Transfer) { t.Contention = 1.5 }), "delay: Contention is 1.5, want a share in (0, 1]"},
		{transfer(func(t *Transfer) { t.Contention = math.NaN() }), "delay: Contention is NaN, want a share in (0, 1]"},
		{transfer(func(t *Transfer) { t.Size = 5e8 }), "delay: Size/Bandwidth/Contention is 1e+09, want less than 1e9 seconds"},
		{transfer(func(t *Transfer) { t.Clones = 1 }), "delay: Clones is 1, want 2 or more, or 0 for 2"},
		{transfer(func(t *Transfer) { t.Reader = 7 }), "delay: Reader is Reader(7), want MeanReader or LastReader"},
		{windows(WindowsConfig{Bins: []int{5, 5}}), "delay: Bins[1] is 5, want 1 or more, and more than the one before"},
		{windows(WindowsConfig{Keep: 9}), "delay: Keep is 9, want at least MinSamples, which is 30, or 0 for the default"},
		{windows(WindowsConfig{MinSamples: -1}), "delay: MinSamples is -1, want a positive number, or 0 for the default"},
		{windows(WindowsConfig{Contention: -1}), "delay: Contention is -1, want a share in (0, 1]"},
		{classes(), "delay: classes has no rows, want one or more"},
		{classes(Class{MinRate: 5}), "delay: classes[0].MinRate is 5, want 0 in the last row"},
		{classes(Class{MinRate: math.NaN()}), "delay: classes[0].MinRate is NaN, want a finite rate, 0 or more"},
		{classes(Class{MinRate: 5}, Class{MinRate: 5}), "delay: classes[1].MinRate is 5, want less than the 5 of the row before"},
		{classes(Class{Config: Config{Misses: []int{-4}}}), "delay: classes[0].Config.Misses[0] is -4, want 0 or more"},
		{gain(-1, 1, 1), "delay: wait is -1ns, want a duration, 0 or more"},
		{gain(1, -1, 1), "delay: spacing is -1ns, want a duration, 0 or more"},
		{gain(1, 1, -1), "delay: cost is -1ns, want a duration, 0 or more"},
		{within(-1, 1, 1), "delay: wait is -1ns, want a duration, 0 or more"},
		{within(1, 0, 1), "delay: task is 0s, want a duration above 0"},
		{within(1, 1, -1), "delay: slots is -1, want 0 or more"},
		{rate(-1, 1), "delay: bytes is -1, want a finite number, 0 or more"},
		{rate(1, 0), "delay: took is 0s, want a duration above 0"},
		{inputs(AllToAll, 0, 0, 1), "delay: upstream is 0, want 1 task or more"},
		{inputs(AllToAll, 4, 1, 4), "delay: task is 4, want 0 or more, and less than downstream, which is 4"},
		{inputs(ManyToOne, 0, 3, 4), "delay: upstream is 3, want no fewer tasks than downstream, which is 4"},
		{inputs(Pattern(8), 0, 1, 1), "delay: the pattern is Pattern(8), want AllToAll, ManyToOne or OneToOne"},
	} {
		assert.EqualError(t, b.err, b.want)
	}
	_, err := BestWait(-1, 1, 2)
	assert.EqualError(t, err, "delay: spacing is -1ns, want a duration, 0 or more")
	_, err = BestWait(1, 1, -2)
	assert.EqualError(t, err, "delay: bound is -2ns, want a duration, 0 or more")
}

func TestDefaultsAreReadBack(t *testing.T) {
	p, err := New(Config{})
	require.NoError(t, err)
	assert.Equal(t, Config{Waits: []time.Duration{15 * time.Second, 15 * time.Second}}, p.Config())
	assert.Equal(t, 3, p.Levels())
	waits := []time.Duration{time.Second}
	p, err = New(Config{Waits: waits, Reset: NoRejection})
	require.NoError(t, err)
	waits[0] = 0
	p.Config().Waits[0] = 0
	assert.Equal(t, Config{Waits: []time.Duration{time.Second}, Reset: NoRejection}, p.Config(), "the caller's slice is not kept")

	p, err = New(Config{Misses: []int{3, 0}})
	require.NoError(t, err)
	assert.Equal(t, Config{Misses: []int{3, 0}}, p.Config())
	p, err = New(Config{Misses: []int{}})
	require.NoError(t, err)
	assert.Equal(t, Config{Misses: []int{}}, p.Config())
	assert.Equal(t, 1, p.Levels())

	w, err := NewWindows(WindowsConfig{})
	require.NoError(t, err)
	want := WindowsConfig{Bins: []int{10, 50, 150, 500}, Clones: 2, Contention: .75, MinSamples: 30, Keep: 1000}
	assert.Equal(t, want, w.Config())
}

// A policy is shared by the jobs of a cluster, each in its own goroutine if the host likes; run with -race.
func TestPolicyIsSafeForConcurrentUse(t *testing.T) {
	b, err := NewBiased(Class{MinRate: 1, Config: Config{Reset: NoRejection}}, Class{})
	require.NoError(t, err)
	var group sync.WaitGroup
	for i := range 4 {
		group.Go(func() {
			j := b.For(float64(i % 2)).Start(start)
			for s := range 100 {
				j.Offer(at(float64(s)), s%3)
				j.EndRound(at(float64(s)), true)
			}
		})
	}
	group.Wait()
}

func TestNames(t *testing.T) {
	assert.Equal(t, "to-launched", ToLaunched.String())
	assert.Equal(t, "Action(9)", Action(9).String())
	assert.Equal(t, "nothing-left", NothingLeft.String())
	assert.Equal(t, "Reason(99)", Reason(99).String())
	assert.Equal(t, "State(3)", State(3).String())
	assert.Equal(t, "last-reader", LastReader.String())
	assert.Equal(t, "failed", Failed.String())
	d := Decision{Reason: Delayed, Level: 2, Rise: 1500 * time.Millisecond, Misses: 3}
	assert.Equal(t, "wait delayed level=2 allowed=0 rise=1.5s misses=3", d.String())
	assert.Equal(t, "[action=wait reason=delayed level=2 allowed=0 rise=1.5s misses=3]", d.LogValue().String())
	a := Assignment{Action: Share, Reason: WindowOver, Input: 1, Copy: 2, KillRest: true}
	assert.Equal(t, "[action=share reason=window-over input=1 copy=2 kill_rest=true]", a.LogValue().String())
	a = Assignment{Reason: WindowOpen, Wait: time.Second}
	assert.Equal(t, "[action=wait reason=window-open wait=1s]", a.LogValue().String())
}
