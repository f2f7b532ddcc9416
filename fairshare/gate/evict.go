package gate

import (
	"log/slog"
	"time"

	"github.com/straggler-go/straggler/internal/enum"
	"github.com/straggler-go/straggler/internal/exact"
	"github.com/straggler-go/straggler/internal/wire"
)

// Job is a running job that may have intermediate results on disks.
type Job struct {
	Submitted   time.Time // when the job was submitted
	Done, Tasks int       // the number of finished tasks, and the number of all tasks; less than 0 means 0
	Bytes       int64     // bytes of intermediate results that are deleted if the job is evicted
}

// EvictRule is the rule by which [EvictRule.Evict] chooses the job whose intermediate results are deleted when the
// disks are full (section 5.4). One job is the leader. No rule chooses the leader, so one job always comes nearer
// to its end. No rule compares the space that jobs use. The paper shows why: if the job that uses the most space
// were evicted, new jobs could evict old jobs again and again.
type EvictRule uint8

const (
	// LatestSubmitted evicts the job that was submitted last. The leader is the job that was submitted first.
	LatestSubmitted EvictRule = iota
	// LeastProgress evicts the job with the smallest part of finished tasks, Done/Tasks. Among jobs with the same
	// part it evicts the job that was submitted last. The leader is the job with the largest part. Among jobs with
	// the same part the job that was submitted first is the leader. Another job becomes the leader only if its
	// part becomes larger.
	LeastProgress
)

var evictRuleNames = [...]string{LatestSubmitted: "latest-submitted", LeastProgress: "least-progress"}

// String returns the name of the rule.
func (r EvictRule) String() string { return enum.Name(evictRuleNames[:], r) }

// MarshalText returns the name of the rule. It returns an error if the value has no name.
func (r EvictRule) MarshalText() ([]byte, error) { return enum.Text(evictRuleNames[:], r) }

// UnmarshalText sets the rule to the constant whose name is text. It returns an error if no constant has this name.
func (r *EvictRule) UnmarshalText(text []byte) error { return enum.Parse(evictRuleNames[:], text, r) }

// Eviction is the answer of an [EvictRule]: the job whose intermediate results must be deleted. Evictions can be
// compared with ==. An Eviction prints as one line, for example:
//
//	evict least-progress job=0 leader=1 bytes=900
//
// The intermediate results of job 0 must be deleted, which frees 900 bytes. Job 1 is the leader: it has the
// largest part of finished tasks and is never evicted.
type Eviction struct {
	Rule   EvictRule // the rule that made the choice
	Job    int       // index of the job to evict; -1 if no job can be evicted
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

// String returns the eviction as one line. MarshalJSON and LogValue (for
// log/slog) return the same fields.
func (e Eviction) String() string               { return wire.Line(e.wire) }
func (e Eviction) LogValue() slog.Value         { return wire.Log(e.wire) }
func (e Eviction) MarshalJSON() ([]byte, error) { return wire.JSON(e.wire) }

// Evict chooses the job to evict among the jobs with Bytes above 0. It never chooses the leader, which is the job
// that the rule protects. To free more bytes, set the Bytes of the evicted job to 0 and call Evict again. An
// evicted job starts again, so set its Done to 0, too. If jobs are equal, the leader is the job with the lowest
// index, and the evicted job is the job with the highest index. If r has no name, Evict uses [LatestSubmitted].
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

// spares reports whether the rule evicts job b rather than job a. It is a strict weak order.
func (r EvictRule) spares(a, b *Job) bool {
	if r == LeastProgress {
		if c := exact.CompareProducts(a.done(), b.tasks(), b.done(), a.tasks()); c != 0 {
			return c > 0
		}
	}
	return a.Submitted.Before(b.Submitted)
}

// tasks and done return the number of all tasks and of finished tasks of the job. Impossible numbers are
// corrected, so that 0 <= done <= tasks and tasks >= 1.
func (j *Job) tasks() int64 { return int64(max(j.Tasks, j.Done, 1)) }
func (j *Job) done() int64  { return int64(max(j.Done, 0)) }
