package jobs

import (
	"context"
	"runtime/debug"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The metrics of the queue include a Job that waits, a Job that is synced, and a Job that is queued for later.
func TestQueueMetrics(t *testing.T) {
	registry := prometheus.NewRegistry()
	y := newToy(t, indexedJob(1), func(_ *toy, c *Config) { c.Registry = registry })
	read := func() map[string]float64 {
		families, err := registry.Gather()
		require.NoError(t, err)
		values := map[string]float64{}
		for _, f := range families {
			for _, m := range f.GetMetric() {
				values[f.GetName()] += m.GetGauge().GetValue() + m.GetCounter().GetValue() + float64(m.GetHistogram().GetSampleCount())
			}
		}
		return values
	}
	defer y.c.queue.ShutDown()
	y.show()
	y.c.queue.Add(jobKey)
	require.Eventually(t, func() bool { return read()["straggler_queue_depth"] == 1 }, 10*time.Second, time.Millisecond)
	require.True(t, y.c.work(context.Background()))
	is := read()
	assert.Zero(t, is["straggler_queue_depth"])
	assert.Equal(t, 1.0, is["straggler_queue_adds_total"])
	assert.Equal(t, 1.0, is["straggler_queue_delays_total"], "the next sync is due after the interval")
	assert.Equal(t, 1.0, is["straggler_queue_wait_seconds"])
	assert.Equal(t, 1.0, is["straggler_queue_work_seconds"])
	assert.Contains(t, is, "straggler_queue_unfinished_seconds")
	assert.Contains(t, is, "straggler_queue_longest_seconds")
	assert.Equal(t, 1.0, is["straggler_build_info"])
}

// The version is the version of the controller's module: of the program itself, of its dependency, or of the dependency's
// replacement.
func TestBuildInfo(t *testing.T) {
	own := &debug.Module{Path: modulePath, Version: "v0.2.0"}
	replaced := &debug.Module{Path: modulePath, Version: "v0.1.0", Replace: &debug.Module{Path: "fork", Version: "v0.3.0"}}
	local := &debug.Module{Path: modulePath, Version: "v0.1.0", Replace: &debug.Module{Path: "./"}}
	commit := []debug.BuildSetting{{Key: "vcs", Value: "git"}, {Key: "vcs.revision", Value: "abc"}}
	for want, info := range map[string]*debug.BuildInfo{
		"v0.2.0 abc go1.26": {GoVersion: "go1.26", Main: *own, Settings: commit},
		"v0.2.0 unknown go1.25": {GoVersion: "go1.25", Main: debug.Module{Path: "p", Version: "v9"},
			Deps: []*debug.Module{{Path: "q"}, own}},
		"(devel) unknown go1.25":  {GoVersion: "go1.25", Deps: []*debug.Module{local}},
		"v0.3.0 unknown go1.25":   {GoVersion: "go1.25", Deps: []*debug.Module{replaced}},
		"unknown unknown unknown": nil,
	} {
		registry := prometheus.NewRegistry()
		registry.MustRegister(buildInfo(info, info != nil))
		families, err := registry.Gather()
		require.NoError(t, err)
		require.Len(t, families, 1)
		assert.Equal(t, "straggler_build_info", families[0].GetName())
		labels := map[string]string{}
		for _, l := range families[0].GetMetric()[0].GetLabel() {
			labels[l.GetName()] = l.GetValue()
		}
		assert.Equal(t, want, labels["version"]+" "+labels["revision"]+" "+labels["go"])
		assert.Equal(t, 1.0, families[0].GetMetric()[0].GetGauge().GetValue())
	}
}
