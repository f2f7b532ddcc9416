package jobs

import (
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
)

// metrics contains the controller's metrics for Prometheus. It implements [prometheus.Collector]. For example, these
// values may be shown:
//
//	straggler_pods_total{op="submit",action="copy",reason="idle-slot"} 4    four copies were made on idle slots
//	straggler_copies_total{result="won"} 3                                  three copies have won
//	straggler_shadow_decisions_total{action="copy",reason="idle-slot"} 4    in shadow mode, four copies were wanted
//	straggler_shadow_seconds_total{policy="without"} 200                    Jobs in shadow mode took 200 s
//	straggler_shadow_seconds_total{policy="with"} 50                        with copies they would have taken 50 s
//	straggler_attempt_seconds_total{of="wasted"} 120                        attempts without a result ran for 120 s
//	straggler_jobs_total{result="complete"} 1                               one Job is Complete
//	straggler_tainted_nodes 2                                               two nodes have the taint
type metrics struct {
	pods    *prometheus.CounterVec   // number of pods made and deleted
	copies  *prometheus.CounterVec   // number of copies, by outcome
	shadow  *prometheus.CounterVec   // number of decisions in shadow mode
	billed  *prometheus.CounterVec   // time of Jobs in shadow mode, in seconds
	seconds *prometheus.CounterVec   // run time of ended attempts, in seconds
	jobs    *prometheus.CounterVec   // number of ended Jobs
	syncs   *prometheus.HistogramVec // time that a sync takes, in seconds
	tainted prometheus.Gauge         // number of tainted nodes
	queue   *queueMetrics
	build   prometheus.Collector
}

func newMetrics() *metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "straggler", Name: name, Help: help}, labels)
	}
	return &metrics{
		queue: newQueueMetrics(),
		build: buildInfo(debug.ReadBuildInfo()),
		pods:  counter("pods_total", "Pods made and deleted, by operation, action and reason.", "op", "action", "reason"),
		copies: counter("copies_total", "Copies of running attempts, by result: made, won, lost.",
			"result"),
		shadow: counter("shadow_decisions_total", "Decisions in shadow mode, which are not carried out.", "action", "reason"),
		billed: counter("shadow_seconds_total",
			"Simulated time of ended Jobs in shadow mode, in seconds: without and with the policy.", "policy"),
		seconds: counter("attempt_seconds_total", "Run time of ended attempts in seconds: all (used), and without a result (wasted).",
			"of"),
		jobs: counter("jobs_total", "Jobs that have ended.", "result"),
		syncs: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: "straggler", Name: "sync_seconds", Help: "Time of one sync of a Job in seconds.",
			Buckets: prometheus.ExponentialBuckets(0.001, 2.5, 10),
		}, []string{"result"}),
		tainted: prometheus.NewGauge(prometheus.GaugeOpts{
			Namespace: "straggler", Name: "tainted_nodes", Help: "Nodes with the taint of a slow node.",
		}),
	}
}

// all lists the metrics one by one, the metrics of the queue included.
func (m *metrics) all() []prometheus.Collector {
	return append(m.queue.all(), m.pods, m.copies, m.shadow, m.billed, m.seconds, m.jobs, m.syncs, m.tainted, m.build)
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

// did counts in the metrics an action that was carried out.
func (m *metrics) did(a *engine.Action) {
	action, reason := a.Decision.Action.String(), a.Decision.Reason.String()
	if a.Decision == (restart.Decision{}) {
		action, reason = "none", "none"
	}
	m.pods.WithLabelValues(a.Op.String(), action, reason).Inc()
}

// count brings the metrics up to date with a run. The ledger of the run's phase contains totals, such as the number
// of copies. count adds to the metrics by how much the totals have grown since the last call. The caller has locked
// c.mu of the Controller.
func (m *metrics) count(r *run) {
	// A new phase of the same Job receives reports about attempts that are already in the metrics. So the first
	// ledger of such a phase is not added.
	now, was := r.phase.Ledger(), r.counted
	if r.recount {
		r.recount, was = false, now
	}
	m.copies.WithLabelValues("made").Add(float64(max(now.Copies-was.Copies, 0)))
	m.copies.WithLabelValues("won").Add(float64(max(now.Won-was.Won, 0)))
	m.copies.WithLabelValues("lost").Add(float64(max(now.Lost-was.Lost, 0)))
	m.seconds.WithLabelValues("used").Add(max(now.Used-was.Used, 0).Seconds())
	m.seconds.WithLabelValues("wasted").Add(max(now.Wasted-was.Wasted, 0).Seconds())
	r.counted = now
}

// finished adds an ended Job to the metrics. complete says whether the Job has succeeded.
func (m *metrics) finished(complete bool) {
	m.jobs.WithLabelValues(map[bool]string{true: "complete", false: "failed"}[complete]).Inc()
}

// synced adds a sync to the metrics: how long it took, and whether it failed.
func (m *metrics) synced(took time.Duration, err error) {
	m.syncs.WithLabelValues(map[bool]string{true: "done", false: "failed"}[err == nil]).Observe(took.Seconds())
}

// log writes an error of a sync to the log. key is the Job, or the node if its taint could not be changed.
func (m *metrics) log(key string, err error) { slog.Warn("sync", "job", key, "error", err) }
