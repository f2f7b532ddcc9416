package jobs

import (
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/util/workqueue"
)

// queueMetrics contains the metrics of the queue of Jobs to sync. It implements [workqueue.MetricsProvider]. The
// names of the metrics differ from the names in client-go, because another controller in the same process may use the
// names of client-go.
type queueMetrics struct {
	depth, unfinished, longest prometheus.Gauge
	adds, retries              prometheus.Counter
	waits, works               prometheus.Histogram
}

// newQueueMetrics makes the metrics of the queue. All metrics begin at zero.
func newQueueMetrics() *queueMetrics {
	const of, queue = "straggler", "queue"
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Namespace: of, Subsystem: queue, Name: name, Help: help})
	}
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Namespace: of, Subsystem: queue, Name: name, Help: help})
	}
	histogram := func(name, help string) prometheus.Histogram {
		return prometheus.NewHistogram(prometheus.HistogramOpts{
			Namespace: of, Subsystem: queue, Name: name, Help: help, Buckets: prometheus.ExponentialBuckets(0.001, 4, 10),
		})
	}
	return &queueMetrics{
		depth:      gauge("depth", "Jobs that wait for a sync."),
		unfinished: gauge("unfinished_seconds", "Summed time of the syncs in progress."),
		longest:    gauge("longest_seconds", "Time of the longest sync in progress."),
		adds:       counter("adds_total", "Jobs that were put into the queue."),
		retries:    counter("delays_total", "Jobs that were put into the queue for later, after an error or at an interval."),
		waits:      histogram("wait_seconds", "Time that a Job waits in the queue."),
		works:      histogram("work_seconds", "Time from a Job's departure from the queue to the end of its sync."),
	}
}

// all lists the metrics one by one.
func (m *queueMetrics) all() []prometheus.Collector {
	return []prometheus.Collector{m.depth, m.unfinished, m.longest, m.adds, m.retries, m.waits, m.works}
}

// NewDepthMetric implements [workqueue.MetricsProvider].
func (m *queueMetrics) NewDepthMetric(string) workqueue.GaugeMetric { return m.depth }

// NewAddsMetric implements [workqueue.MetricsProvider].
func (m *queueMetrics) NewAddsMetric(string) workqueue.CounterMetric { return m.adds }

// NewLatencyMetric implements [workqueue.MetricsProvider].
func (m *queueMetrics) NewLatencyMetric(string) workqueue.HistogramMetric { return m.waits }

// NewWorkDurationMetric implements [workqueue.MetricsProvider].
func (m *queueMetrics) NewWorkDurationMetric(string) workqueue.HistogramMetric { return m.works }

// NewUnfinishedWorkSecondsMetric implements [workqueue.MetricsProvider].
func (m *queueMetrics) NewUnfinishedWorkSecondsMetric(string) workqueue.SettableGaugeMetric {
	return m.unfinished
}

// NewLongestRunningProcessorSecondsMetric implements [workqueue.MetricsProvider].
func (m *queueMetrics) NewLongestRunningProcessorSecondsMetric(string) workqueue.SettableGaugeMetric {
	return m.longest
}

// NewRetriesMetric implements [workqueue.MetricsProvider].
func (m *queueMetrics) NewRetriesMetric(string) workqueue.CounterMetric { return m.retries }
