package gate

import (
	"log/slog"
	"time"

	"github.com/straggler-go/straggler/internal/enum"
	"github.com/straggler-go/straggler/internal/exact"
	"github.com/straggler-go/straggler/internal/wire"
)

// Job is a running job that holds intermediate results.
type Job struct {
	Submitted   time.Time
	Done, Tasks int   // finished tasks and all of them; less than 0 counts as 0
	Bytes       int64 // intermediate results that evicting the job would delete
}

// EvictRule is how to choose the job whose intermediate results are deleted when disks are full (section 5.4). Both
// rules spare one job, the leader, so that it always progresses. The paper shows why the job that uses the most space
// is no choice: new jobs could evict old ones for ever.
type EvictRule uint8

const (
	// LatestSubmitted evicts the job submitted last. The leader is the one submitted first.
	LatestSubmitted EvictRule = iota
	// LeastProgress evicts the job with the smallest share of its tasks done, the later submitted of two equal ones. The
	// leader is the one with the largest, the earlier submitted of two. It can change only to a job that has overtaken.
	LeastProgress
)

var evictRuleNames = [...]string{LatestSubmitted: "latest-submitted", LeastProgress: "least-progress"}

// String returns the name of the rule.
func (r EvictRule) String() string { return enum.Name(evictRuleNames[:], r) }

// MarshalText returns the rule's name.
func (r EvictRule) MarshalText() ([]byte, error) { return enum.Text(evictRuleNames[:], r) }

// UnmarshalText sets the evict rule by its name.
func (r *EvictRule) UnmarshalText(text []byte) error { return enum.Parse(evictRuleNames[:], text, r) }

// Eviction is the answer of an [EvictRule]. It is comparable.
type Eviction struct {
	Rule   EvictRule
	Job    int // whose intermediate results to delete; -1 for none
	Leader int // the job that must not be evicted; -1 if there are no jobs
	Bytes  int64
}

func (e *Eviction) wire(c *wire.Codec) {
	verb := 0
	if e.Job >= 0 {
		verb = 1
	}
	c.Kind(verb, "keep", "evict")
	c.Word("rule", &e.Rule)
	c.Index("job", &e.Job)
	c.Index("leader", &e.Leader)
	c.When(e.Job >= 0).Int64("bytes", &e.Bytes)
}

// String returns the answer as one line, which UnmarshalText reads; LogValue, for log/slog, and MarshalJSON, which
// UnmarshalJSON reads, have the same fields.
func (e Eviction) String() string                   { return wire.Line(e.wire) }
func (e Eviction) LogValue() slog.Value             { return wire.Log(e.wire) }
func (e Eviction) MarshalJSON() ([]byte, error)     { return wire.JSON(e.wire) }
func (e *Eviction) UnmarshalJSON(data []byte) error { return wire.Read(data, e, (*Eviction).wire) }
func (e *Eviction) UnmarshalText(line []byte) error { return wire.Scan(line, e, (*Eviction).wire) }

// Evict returns the job to evict among those that hold bytes, and never the leader among all of the jobs. To make more
// room, call it again without the evicted job's bytes. An evicted job starts again from nothing: its Done is then 0.
// Ties go to the lower index as leader and to the higher one as victim. An unknown rule is taken as [LatestSubmitted].
//
// Cost: O(n) for n jobs, no allocation.
func (r EvictRule) Evict(jobs []Job) Eviction {
	e := Eviction{Rule: r, Job: -1, Leader: -1}
	for i := range jobs {
		if e.Leader < 0 || r.spares(&jobs[i], &jobs[e.Leader]) {
			e.Leader = i
		}
	}
	for i := range jobs {
		if i != e.Leader && jobs[i].Bytes > 0 && (e.Job < 0 || !r.spares(&jobs[i], &jobs[e.Job])) {
			e.Job, e.Bytes = i, jobs[i].Bytes
		}
	}
	return e
}

// spares reports whether a is to be spared rather than b; it is a strict weak order.
func (r EvictRule) spares(a, b *Job) bool {
	if r == LeastProgress {
		if c := exact.CompareProducts(a.done(), b.tasks(), b.done(), a.tasks()); c != 0 {
			return c > 0
		}
	}
	return a.Submitted.Before(b.Submitted)
}

func (j *Job) tasks() int64 { return int64(max(j.Tasks, j.Done, 1)) }
func (j *Job) done() int64  { return int64(max(j.Done, 0)) }
