package delay

import (
	"encoding/json"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestValuesOutOfRangeAreRefused(t *testing.T) {
	config := func(c Config) error { _, err := New(c); return err }
	classes := func(c ...Class) error { _, err := NewByReadRate(c...); return err }
	gain := func(w, s, d time.Duration) error { _, err := Gain(w, s, d); return err }
	within := func(w, task time.Duration, slots int) error { _, err := LocalWithin(w, task, slots); return err }
	for _, b := range []struct {
		err  error
		want string
	}{
		{config(Config{Waits: []time.Duration{1, -1}}), "delay: Config.Waits[1] is -1ns, want a duration, 0 or more"},
		{config(Config{Misses: []int{-1}}), "delay: Config.Misses[0] is -1, want 0 or more"},
		{config(Config{Misses: []int{1}, Waits: []time.Duration{1}}), "delay: Config.Waits is [1ns], want nil beside Misses of [1]"},
		{config(Config{Waits: make([]time.Duration, 64)}), "delay: Config.Levels is 65, want at most 64: one more than Waits or Misses"},
		{config(Config{Reset: 3}), "delay: Config.Reset is Reset(3), want one of: on-launch, to-launched, no-rejection"},
		{classes(), "delay: len(classes) is 0, want 1 or more"},
		{classes(Class{MinRate: 5}), "delay: classes[0].MinRate is 5, want 0 in the last row"},
		{classes(Class{MinRate: math.NaN()}), "delay: classes[0].MinRate is NaN, want a finite rate, 0 or more"},
		{classes(Class{MinRate: 5}, Class{MinRate: 5}), "delay: classes[1].MinRate is 5, want less than the 5 of the row before"},
		{classes(Class{Config: Config{Misses: []int{-4}}}), "delay: classes[0].Config.Misses[0] is -4, want 0 or more"},
		{gain(-1, 1, 1), "delay: wait is -1ns, want at least 0s"},
		{gain(1, -1, 1), "delay: spacing is -1ns, want at least 0s"},
		{gain(1, 1, -1), "delay: cost is -1ns, want at least 0s"},
		{within(-1, 1, 1), "delay: wait is -1ns, want at least 0s"},
		{within(1, 0, 1), "delay: task is 0s, want at least 1ns"},
		{within(1, 1, -1), "delay: slots is -1, want at least 0"},
	} {
		assert.EqualError(t, b.err, b.want)
	}
}

func TestConfigReturnsTheDefaults(t *testing.T) {
	p, err := New(Config{})
	require.NoError(t, err)
	assert.Equal(t, Config{Waits: []time.Duration{15 * time.Second, 15 * time.Second}}, p.Config())
	assert.Equal(t, 3, p.Levels())
	waits := []time.Duration{time.Second}
	p, err = New(Config{Waits: waits, Reset: NoRejection})
	require.NoError(t, err)
	waits[0] = 0
	p.Config().Waits[0] = 0
	assert.Equal(t, Config{Waits: []time.Duration{time.Second}, Reset: NoRejection}, p.Config(), "the policy must not keep the caller's slice")

	p, err = New(Config{Misses: []int{3, 0}})
	require.NoError(t, err)
	assert.Equal(t, Config{Misses: []int{3, 0}}, p.Config())
	p, err = New(Config{Misses: []int{}})
	require.NoError(t, err)
	assert.Equal(t, Config{Misses: []int{}}, p.Config())
	assert.Equal(t, 1, p.Levels())
}

// The jobs of a cluster share a policy, and each job may run in its own goroutine. Run this test with -race.
func TestPolicyIsSafeForConcurrentUse(t *testing.T) {
	b, err := NewByReadRate(Class{MinRate: 1, Config: Config{Reset: NoRejection}}, Class{})
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

func TestValuesPrintTheirNames(t *testing.T) {
	assert.Equal(t, "to-launched", ToLaunched.String())
	assert.Equal(t, "Action(9)", Action(9).String())
	assert.Equal(t, "no-task", NoTask.String())
	assert.Equal(t, "Reason(99)", Reason(99).String())
	d := Decision{Reason: Delayed, Level: 2, NextLevelIn: 1500 * time.Millisecond, Misses: 3}
	assert.Equal(t, "wait delayed level=2 allowed=0 next-level-in=1.5s misses=3", d.String())
	assert.Equal(t, "[action=wait reason=delayed level=2 allowed=0 next-level-in=1.5 misses=3]", d.LogValue().String())
	data, err := json.Marshal(d)
	require.NoError(t, err)
	assert.JSONEq(t, `{"action":"wait","reason":"delayed","level":2,"allowed":0,"next-level-in":1.5,"misses":3}`, string(data))
	var c Config
	require.NoError(t, json.Unmarshal([]byte(`{"reset":"no-rejection"}`), &c))
	assert.Equal(t, NoRejection, c.Reset)
	assert.ErrorContains(t, json.Unmarshal([]byte(`{"reset":"x"}`), &c), `delay: Reset is "x", want one of: on-launch`)
	text, err := NoRejection.MarshalText()
	require.NoError(t, err)
	assert.Equal(t, "no-rejection", string(text))
}

func TestZeroValuesAreUsable(t *testing.T) {
	var p Policy
	assert.Equal(t, 1, p.Levels())
	j := p.Start(start)
	assert.Equal(t, Launch, j.Offer(start, 0).Action, "the zero Policy has one level and launches anywhere")
	assert.Equal(t, NoTask, j.Offer(start, 1).Reason)
	var b ByReadRate
	assert.Equal(t, 1, b.For(5).Levels())
}
