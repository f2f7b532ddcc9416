package assign

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestValuesOutOfRangeAreRefused(t *testing.T) {
	model := func(change func(*Model)) error {
		m := Model{Lags: []time.Duration{1, 2}, Size: 1, Bandwidth: 1, Contention: .5}
		change(&m)
		best, err := ChooseWindow(m)
		assert.Zero(t, best)
		o, again := m.At(time.Second)
		assert.Zero(t, o)
		assert.EqualError(t, again, err.Error())
		return err
	}
	table := func(c WindowTableConfig) error { _, err := NewWindowTable(c); return err }
	inputs := func(p Pattern, task, up, down int) error { _, _, err := p.Inputs(task, up, down); return err }
	for _, b := range []struct {
		err  error
		want string
	}{
		{model(func(m *Model) { m.Lags = nil }), "the number of Model.Lags is 0, want 1 or more, or InverseLag"},
		{model(func(m *Model) { m.Lags[1] = -5 }), "Model.Lags[1] is -5ns, want a duration, 0 or more"},
		{model(func(m *Model) { m.Cut = []time.Duration{-7} }), "Model.Cut[0] is -7ns, want a duration, 0 or more"},
		{model(func(m *Model) { m.InverseLag = -5 }), "Model.InverseLag is -5ns, want a duration, 0 or more"},
		{model(func(m *Model) { m.Compute = []time.Duration{1, -1} }), "Model.Compute[1] is -1ns, want a duration, 0 or more"},
		{model(func(m *Model) { m.Size = math.NaN() }), "Model.Size is NaN, want a finite number of bytes, 0 or more"},
		{model(func(m *Model) { m.Bandwidth = -3 }), "Model.Bandwidth is -3, want a finite rate above 0"},
		{model(func(m *Model) { m.Bandwidth = 0 }), "Model.Bandwidth is 0, want a finite rate above 0"},
		{model(func(m *Model) { m.Bandwidth = math.Inf(1) }), "Model.Bandwidth is +Inf, want a finite rate above 0"},
		{model(func(m *Model) { m.Contention = 1.5 }), "Model.Contention is 1.5, want a share in (0, 1]"},
		{model(func(m *Model) { m.Contention = math.NaN() }), "Model.Contention is NaN, want a share in (0, 1]"},
		{model(func(m *Model) { m.Size, m.Inputs = 1e8, 5 }),
			"Model.Inputs*Size/Bandwidth/Contention is 1e+09, want less than 1e9 seconds"},
		{model(func(m *Model) { m.Clones = 1 }), "Model.Clones is 1, want 2 to 1000, or 0 for 2"},
		{model(func(m *Model) { m.Inputs = -1 }), "Model.Inputs is -1, want 1 or more, or 0 for 1"},
		{model(func(m *Model) { m.Pairing = 7 }), "Model.Pairing is Pairing(7), want Spread or Coordinated"},
		{table(WindowTableConfig{Bins: []int{5, 5}}), "WindowTableConfig.Bins[1] is 5, want 1 or more, and more than the one before"},
		{table(WindowTableConfig{Bins: make([]int, 70000)}), "WindowTableConfig.Bins is 70000, want at most 65536 of them"},
		{table(WindowTableConfig{Keep: 9}),
			"WindowTableConfig.Keep is 9, want 30 to 16777216, or 0 for the default"},
		{table(WindowTableConfig{MinSamples: -1}), "WindowTableConfig.MinSamples is -1, want a positive number, or 0 for the default"},
		{table(WindowTableConfig{Contention: -1}), "WindowTableConfig.Contention is -1, want a share in (0, 1], or 0 for the default"},
		{table(WindowTableConfig{Pairing: 2}), "WindowTableConfig.Pairing is Pairing(2), want one of: spread, coordinated"},
		{inputs(AllToAll, 0, 0, 1), "upstream is 0, want 1 task or more"},
		{inputs(AllToAll, 4, 1, 4), "task is 4, want at least 0 and less than the number of downstream tasks, which is 4"},
		{inputs(ManyToOne, 0, 3, 4), "upstream is 3, want at least the number of downstream tasks, which is 4"},
		{inputs(Pattern(8), 0, 1, 1), "the pattern is Pattern(8), want AllToAll, ManyToOne or OneToOne"},
	} {
		assert.EqualError(t, b.err, "delay/assign: "+b.want)
	}
}

func TestConfigReturnsTheDefaults(t *testing.T) {
	want := WindowTableConfig{Bins: []int{10, 50, 150, 500}, Contention: .75, MinSamples: 30, Keep: 1000}
	w, err := NewWindowTable(WindowTableConfig{})
	require.NoError(t, err)
	assert.Equal(t, want, w.Config())
	w.Config().Bins[0] = 7
	assert.Equal(t, want, w.Config(), "the table must not share its slice with the caller")
	var zero WindowTable
	assert.Equal(t, want, zero.Config())
	_, known := zero.For(Job{Tasks: 4})
	assert.False(t, known)
	zero.Refresh()
	assert.True(t, zero.ObserveLag(4, time.Second))
}

func TestValuesPrintTheirNames(t *testing.T) {
	assert.Equal(t, "Action(9)", Action(9).String())
	assert.Equal(t, "nothing-left", NothingLeft.String())
	assert.Equal(t, "Reason(99)", Reason(99).String())
	assert.Equal(t, "State(3)", State(3).String())
	assert.Equal(t, "failed", Failed.String())
	assert.Equal(t, "coordinated", Coordinated.String())
	d := Decision{Action: ReadShared, Reason: WindowOver, Input: 1, Clone: 2, KillRest: true}
	assert.Equal(t, "share window-over input=1 clone=2 kill-rest=true", d.String())
	assert.Equal(t, "[action=share reason=window-over input=1 clone=2 kill-rest=true]", d.LogValue().String())
	data, err := json.Marshal(d)
	require.NoError(t, err)
	assert.JSONEq(t, `{"action":"share","reason":"window-over","input":1,"clone":2,"kill-rest":true}`, string(data))
	d = Decision{Reason: WindowOpen, Wait: time.Second}
	assert.Equal(t, "[action=wait reason=window-open wait=1]", d.LogValue().String())
	assert.Equal(t, "wait no-reason", Decision{}.String())

	var c WindowTableConfig
	require.NoError(t, json.Unmarshal([]byte(`{"pairing":"coordinated"}`), &c))
	assert.Equal(t, Coordinated, c.Pairing)
	assert.ErrorContains(t, json.Unmarshal([]byte(`{"pairing":"x"}`), &c), `delay/assign: Pairing is "x", want one of: spread, coordinated`)
	var p Pattern
	require.NoError(t, p.UnmarshalText([]byte("many-to-one")))
	assert.Equal(t, ManyToOne, p)
	text, err := p.MarshalText()
	require.NoError(t, err)
	assert.Equal(t, "many-to-one", string(text))
	assert.ErrorContains(t, p.UnmarshalText([]byte("all")), `delay/assign: Pattern is "all", want one of: all-to-all`)
}
