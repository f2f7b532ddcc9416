package jobs

import (
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
)

// metrics is what Prometheus is told.
type metrics struct {
	pods    *prometheus.CounterVec
	copies  *prometheus.CounterVec
	seconds *prometheus.CounterVec
	jobs    *prometheus.CounterVec
	syncs   *prometheus.HistogramVec
	tainted prometheus.Gauge
	queue   *queueMetrics
	build   prometheus.Collector
}

func newMetrics() *metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "straggler", Name: name, Help: help}, labels)
	}
	return &metrics{
		queue: newQueueMetrics(),
		build: built(debug.ReadBuildInfo()),
		pods:  counter("pods_total", "Pods made and deleted, by what was done and why.", "op", "action", "reason"),
		copies: counter("copies_total", "Copies of running attempts by what became of them: made, won, lost.",
			"result"),
		seconds: counter("attempt_seconds_total", "Seconds that ended attempts have run: all, and without a result.",
			"of"),
		jobs: counter("jobs_total", "Jobs that have ended.", "result"),
		syncs: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: "straggler", Name: "sync_seconds", Help: "Time of one look at a Job.",
			Buckets: prometheus.ExponentialBuckets(0.001, 2.5, 10),
		}, []string{"result"}),
		tainted: prometheus.NewGauge(prometheus.GaugeOpts{
			Namespace: "straggler", Name: "tainted_nodes", Help: "Nodes that have the taint of a slow one.",
		}),
	}
}

func (m *metrics) all() []prometheus.Collector {
	return append(m.queue.all(), m.pods, m.copies, m.seconds, m.jobs, m.syncs, m.tainted, m.build)
}

// Describe implements [prometheus.Collector].
func (m *metrics) Describe(to chan<- *prometheus.Desc) {
	for _, c := range m.all() {
		c.Describe(to)
	}
}

// Collect implements [prometheus.Collector].
func (m *metrics) Collect(to chan<- prometheus.Metric) {
	for _, c := range m.all() {
		c.Collect(to)
	}
}

// did counts an action that was carried out.
func (m *metrics) did(a *engine.Action) {
	action, reason := a.Decision.Action.String(), a.Decision.Reason.String()
	if a.Decision == (restart.Decision{}) {
		action, reason = "none", "none"
	}
	m.pods.WithLabelValues(a.Op.String(), action, reason).Inc()
}

// count adds what a run's ledger says more than when it was last counted. The controller is locked.
func (m *metrics) count(r *run) {
	now, was := r.phase.Ledger(), r.counted
	if r.retold {
		r.retold, was = false, now
	}
	m.copies.WithLabelValues("made").Add(float64(max(now.Copies-was.Copies, 0)))
	m.copies.WithLabelValues("won").Add(float64(max(now.Won-was.Won, 0)))
	m.copies.WithLabelValues("lost").Add(float64(max(now.Lost-was.Lost, 0)))
	m.seconds.WithLabelValues("used").Add(max(now.Used-was.Used, 0).Seconds())
	m.seconds.WithLabelValues("wasted").Add(max(now.Wasted-was.Wasted, 0).Seconds())
	r.counted = now
}

func (m *metrics) finished(complete bool) {
	m.jobs.WithLabelValues(map[bool]string{true: "complete", false: "failed"}[complete]).Inc()
}

func (m *metrics) synced(took time.Duration, err error) {
	m.syncs.WithLabelValues(map[bool]string{true: "done", false: "failed"}[err == nil]).Observe(took.Seconds())
}

func (m *metrics) log(key string, err error) { slog.Warn("sync", "job", key, "error", err) }
