package queuetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/engine/queue"
)

// Memory is a store in the memory of the process: a model of a store, in plain loops. It is a
// [queue.Store] and a [queue.Source], and is safe for concurrent use.
type Memory struct {
	now func() time.Time

	mu       sync.Mutex
	jobs     []*memoryJob
	attempts []*memoryAttempt
	workers  map[string]memoryWorker
	owner    string
	until    time.Time
	epoch    int64
	state    []byte
	values   map[string][]byte
	versions map[string]int64
}

type memoryJob struct {
	queue.Job
	taken, failed bool
	until         time.Time // the job does not wait before
	winner        string
	output        []byte
	err           string
}

type memoryAttempt struct {
	queue.Attempt
	job    *memoryJob
	number int
	cancel bool
	output []byte
}

type memoryWorker struct {
	slots int
	heard time.Time
}

// NewMemory returns an empty store whose clock is now.
func NewMemory(now func() time.Time) *Memory {
	return &Memory{now: now, workers: map[string]memoryWorker{}, values: map[string][]byte{}, versions: map[string]int64{}}
}

// Insert adds jobs, which begin in their order. They are a batch, or single jobs if batch is "".
func (m *Memory) Insert(batch string, jobs ...queue.Job) (ids []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, j := range jobs {
		j.ID, j.Batch = fmt.Sprint(batch, "/", len(m.jobs)), batch
		m.jobs, ids = append(m.jobs, &memoryJob{Job: j}), append(ids, j.ID)
	}
	return ids
}

// Results returns the results of the jobs of a batch, in their order, or of the single jobs if batch is "". ended is
// false if a job has not ended.
func (m *Memory) Results(batch string) (all []queue.Result, ended bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	ended = true
	for _, j := range m.jobs {
		if j.Batch != batch {
			continue
		}
		r := queue.Result{Output: j.output, Attempt: j.winner}
		if j.failed {
			r.Err = errors.New(j.err)
		}
		all, ended = append(all, r), ended && j.over()
	}
	return all, ended
}

func (j *memoryJob) over() bool { return j.winner != "" || j.failed }

func (m *Memory) job(id string) *memoryJob {
	i := slices.IndexFunc(m.jobs, func(j *memoryJob) bool { return j.ID == id })
	return m.jobs[i]
}

func (m *Memory) attempt(name string) *memoryAttempt {
	if i := slices.IndexFunc(m.attempts, func(a *memoryAttempt) bool { return a.Name == name }); i >= 0 {
		return m.attempts[i]
	}
	return nil
}

// Waiting is a method of [queue.Jobs].
func (m *Memory) Waiting(_ context.Context, limit int) (all []queue.Job, _ error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, j := range m.jobs {
		switch {
		case j.taken || j.over() || m.now().Before(j.until):
		case j.Batch != "":
			all = append(all, j.Job)
		case limit > 0:
			all = append(all, j.Job)
			limit--
		}
	}
	return all, nil
}

// List is a method of [queue.Attempts].
func (m *Memory) List(context.Context) (all []queue.Attempt, _ error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, a := range m.attempts {
		shown := a.Attempt
		shown.Published = a.job.winner == a.Name
		all = append(all, shown)
	}
	return all, nil
}

// Workers is a method of [queue.Attempts].
func (m *Memory) Workers(context.Context) (all []queue.WorkerStatus, _ error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for name, w := range m.workers {
		all = append(all, queue.WorkerStatus{Name: name, Slots: w.slots, Silent: m.now().Sub(w.heard)})
	}
	slices.SortFunc(all, func(a, b queue.WorkerStatus) int { return bytes.Compare([]byte(a.Name), []byte(b.Name)) })
	return all, nil
}

// Open is a method of [queue.State].
func (m *Memory) Open(_ context.Context, owner string, term time.Duration) (int64, []byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.owner != owner && m.now().Before(m.until) {
		return 0, nil, queue.ErrHeld
	}
	m.epoch++
	m.owner, m.until = owner, m.now().Add(term)
	return m.epoch, m.state, nil
}

// Commit is a method of [queue.State].
func (m *Memory) Commit(_ context.Context, c queue.Commit) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if c.Epoch != m.epoch {
		return queue.ErrFenced
	}
	m.until = m.now().Add(c.Term)
	if c.State != nil {
		m.state = bytes.Clone(c.State)
	}
	for _, j := range m.jobs {
		j.taken = j.taken && !c.Reset
	}
	for _, r := range c.Rest {
		if j := m.job(r.Job.ID); j.taken {
			j.taken, j.Failures, j.until = false, r.Job.Failures, m.now().Add(r.For)
		}
	}
	for _, j := range c.Take {
		m.job(j.ID).taken = true
	}
	for _, s := range c.Submit {
		if m.attempt(s.Name) == nil {
			a := queue.Attempt{Name: s.Name, Worker: s.Worker}
			m.attempts = append(m.attempts, &memoryAttempt{Attempt: a, job: m.job(s.Job.ID), number: s.Number})
		}
	}
	for _, t := range c.Cancel {
		switch a := m.attempt(t.Name); {
		case a == nil:
		case a.State == engine.Queued:
			a.end(engine.Cancelled, m.now())
		default:
			a.cancel = true
		}
	}
	for _, p := range c.Publish {
		if j, a := m.job(p.Job.ID), m.attempt(p.Name); a != nil && !j.over() {
			j.winner, j.output = a.Name, a.output
		}
	}
	for _, f := range c.Fail {
		if j := m.job(f.Job.ID); !j.over() {
			j.failed, j.err = true, f.Error
		}
	}
	m.attempts = slices.DeleteFunc(m.attempts, func(a *memoryAttempt) bool {
		return a.State >= engine.Succeeded && slices.Contains(c.Seen, a.Name)
	})
	return nil
}

func (a *memoryAttempt) end(state engine.State, now time.Time) { a.State, a.Ended = state, now }

// Get is a method of [queue.Knowledge].
func (m *Memory) Get(_ context.Context, key string) ([]byte, int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.values[key], m.versions[key], nil
}

// Put is a method of [queue.Knowledge].
func (m *Memory) Put(_ context.Context, key string, value []byte, version int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.versions[key] != version {
		return queue.ErrConflict
	}
	m.values[key], m.versions[key] = bytes.Clone(value), version+1
	return nil
}

// Beat is a method of [queue.Source].
func (m *Memory) Beat(_ context.Context, b queue.Beat) (o queue.Orders, _ error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.workers[b.Worker] = (memoryWorker{b.Slots, m.now()}); b.Leaving {
		delete(m.workers, b.Worker)
	}
	for _, a := range m.attempts {
		i := slices.IndexFunc(b.Running, func(r queue.Running) bool { return r.Name == a.Name })
		switch {
		case a.Worker != b.Worker:
		case a.State == engine.Running && i < 0, a.State == engine.Queued && b.Leaving:
			a.end(engine.Lost, m.now())
		case a.State == engine.Running:
			if share := b.Running[i].Share; share > 0 && share != a.Share {
				a.Share, a.AsOf = share, m.now()
			}
			if a.cancel {
				o.Cancel = append(o.Cancel, a.Name)
			}
		case a.State == engine.Queued && len(o.Begin) < b.Free:
			a.State, a.Begun = engine.Running, m.now()
			o.Begin = append(o.Begin, queue.Order{Name: a.Name, Job: a.job.Job, Number: a.number})
		}
	}
	return o, nil
}

// End is a method of [queue.Source].
func (m *Memory) End(_ context.Context, e queue.End) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	a := m.attempt(e.Name)
	if a != nil && (a.State == engine.Running || a.State > engine.Failed && e.State == engine.Succeeded) {
		a.end(e.State, m.now())
		a.output, a.Error = e.Output, e.Error
	}
	return nil
}
