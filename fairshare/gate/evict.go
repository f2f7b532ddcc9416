package gate

import (
	"log/slog"
	"time"

	"github.com/straggler-go/straggler/internal/enum"
	"github.com/straggler-go/straggler/internal/exact"
	"github.com/straggler-go/straggler/internal/wire"
)

// Job is a running job that may hold intermediate results.
type Job struct {
	Submitted   time.Time // when the job was submitted
	Done, Tasks int       // finished tasks and all tasks; less than 0 counts as 0
	Bytes       int64     // bytes of intermediate results that an eviction of the job deletes
}

// EvictRule chooses the job that loses its intermediate results when the disks are full (section 5.4). No rule
// chooses the leader, so the leader always progresses. Neither rule looks at space. The paper shows the reason: if
// the job with the most space were evicted, new jobs could evict old jobs for ever.
type EvictRule uint8

const (
	// LatestSubmitted evicts the job that was submitted last. The leader is the job that was submitted first.
	LatestSubmitted EvictRule = iota
	// LeastProgress evicts the job with the smallest Done/Tasks; among equal jobs it evicts the job that was
	// submitted last. The leader is the job with the largest Done/Tasks; among equal jobs the first submitted job
	// leads. Another job becomes the leader only if it overtakes.
	LeastProgress
)

var evictRuleNames = [...]string{LatestSubmitted: "latest-submitted", LeastProgress: "least-progress"}

// String returns the name of the rule.
func (r EvictRule) String() string { return enum.Name(evictRuleNames[:], r) }

// MarshalText returns the name of the rule. It returns an error for an unknown value.
func (r EvictRule) MarshalText() ([]byte, error) { return enum.Text(evictRuleNames[:], r) }

// UnmarshalText sets the evict rule by its name. It returns an error for an unknown name.
func (r *EvictRule) UnmarshalText(text []byte) error { return enum.Parse(evictRuleNames[:], text, r) }

// Eviction is the answer of an [EvictRule]. It is comparable. One line:
//
//	evict least-progress job=0 leader=1 bytes=900
//
// Delete the intermediate results of job 0, which frees 900 bytes. Job 1 has made the most progress and is spared.
type Eviction struct {
	Rule   EvictRule // the rule that made the choice
	Job    int       // index of the job to evict; -1 for none
	Leader int       // index of the job that must not be evicted; -1 if there are no jobs
	Bytes  int64     // bytes that the eviction frees
}

func (e *Eviction) wire(c *wire.Codec) {
	verb := "keep"
	if e.Job >= 0 {
		verb = "evict"
	}
	c.Kind(verb)
	c.Word("rule", &e.Rule)
	c.Index("job", &e.Job)
	c.Index("leader", &e.Leader)
	c.When(e.Job >= 0).Int64("bytes", &e.Bytes)
}

// String returns the answer as one line. MarshalJSON and LogValue (for log/slog) have the same fields.
func (e Eviction) String() string               { return wire.Line(e.wire) }
func (e Eviction) LogValue() slog.Value         { return wire.Log(e.wire) }
func (e Eviction) MarshalJSON() ([]byte, error) { return wire.JSON(e.wire) }

// Evict chooses the job to evict among the jobs with Bytes above 0. It never chooses the leader of all jobs. To make
// more room, set the Bytes of the evicted job to 0 and call Evict again. An evicted job starts again, so set its Done
// to 0, too. Ties go to the lower index for the leader, and to the higher index for the evicted job. An unknown rule
// means [LatestSubmitted].
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

// spares reports whether job a must be spared before job b. It is a strict weak order.
func (r EvictRule) spares(a, b *Job) bool {
	if r == LeastProgress {
		if c := exact.CompareProducts(a.done(), b.tasks(), b.done(), a.tasks()); c != 0 {
			return c > 0
		}
	}
	return a.Submitted.Before(b.Submitted)
}

// tasks and done return the counts of the job, corrected so that 0 <= done <= tasks and tasks >= 1.
func (j *Job) tasks() int64 { return int64(max(j.Tasks, j.Done, 1)) }
func (j *Job) done() int64  { return int64(max(j.Done, 0)) }
