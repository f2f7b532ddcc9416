package fairshare

import (
	"fmt"
	"log/slog"
	"strconv"
	"time"
)

// Job is a running job that holds intermediate results.
//
// Safe for concurrent use.
type Job struct {
	Submitted   time.Time
	Done, Tasks int   // finished tasks and all of them; less than 0 counts as 0
	Bytes       int64 // intermediate results that evicting the job would delete
}

// EvictRule is how to choose the job whose intermediate results are deleted when disks are full (section 5.4). Both
// rules spare one job, the leader, so that it always progresses. The paper shows why the job that uses the most space is
// no choice: new jobs could evict old ones for ever.
type EvictRule uint8

const (
	// LatestSubmitted evicts the job submitted last. The leader is the one submitted first.
	LatestSubmitted EvictRule = iota
	// LeastProgress evicts the job with the smallest share of its tasks done, the later submitted of two equal ones. The
	// leader is the one with the largest, the earlier submitted of two. It can change only to a job that has overtaken.
	LeastProgress
)

var evictRuleNames = [...]string{LatestSubmitted: "latest submitted", LeastProgress: "least progress"}

// String returns the name of the rule.
func (r EvictRule) String() string { return nameOf(evictRuleNames[:], uint8(r)) }

// Eviction is the answer of an [EvictRule]. It is comparable.
//
// Safe for concurrent use.
type Eviction struct {
	Job    int // whose intermediate results to delete; -1 for none
	Leader int // the job that must not be evicted; -1 if there are no jobs
	Bytes  int64
}

// String returns the answer as one line.
func (e Eviction) String() string {
	switch {
	case e.Leader < 0:
		return "evict nobody: there are no jobs"
	case e.Job < 0:
		return "evict nobody: only job " + strconv.Itoa(e.Leader) + " could be, which leads"
	}
	return fmt.Sprintf("evict job %d for %d bytes, job %d leads", e.Job, e.Bytes, e.Leader)
}

// LogValue implements [slog.LogValuer].
func (e Eviction) LogValue() slog.Value {
	return slog.GroupValue(slog.Int("job", e.Job), slog.Int("leader", e.Leader), slog.Int64("bytes", e.Bytes))
}

// Evict returns the job to evict among those that hold bytes, and never the leader among all of the jobs. To make more
// room, call it again without the evicted job's bytes. An evicted job starts again from nothing: its Done is then 0.
// Ties go to the lower index as leader and to the higher one as victim. An unknown rule is taken as [LatestSubmitted].
//
// Cost: O(n) for n jobs, no allocation.
func (r EvictRule) Evict(jobs []Job) Eviction {
	e := Eviction{Job: -1, Leader: -1}
	for i := range jobs {
		if e.Leader < 0 || r.ahead(&jobs[i], &jobs[e.Leader]) {
			e.Leader = i
		}
	}
	for i := range jobs {
		if i != e.Leader && jobs[i].Bytes > 0 && (e.Job < 0 || !r.ahead(&jobs[i], &jobs[e.Job])) {
			e.Job, e.Bytes = i, jobs[i].Bytes
		}
	}
	return e
}

// ahead reports whether a is to be spared rather than b; it is a strict weak order.
func (r EvictRule) ahead(a, b *Job) bool {
	if r == LeastProgress {
		if c := compareProducts(a.done(), b.tasks(), b.done(), a.tasks()); c != 0 {
			return c > 0
		}
	}
	return a.Submitted.Before(b.Submitted)
}

func (j *Job) tasks() int64 { return int64(max(j.Tasks, j.Done, 1)) }
func (j *Job) done() int64  { return int64(max(j.Done, 0)) }
