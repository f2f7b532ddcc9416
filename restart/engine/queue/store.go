package queue

import (
	"context"
	"errors"
	"time"

	"github.com/straggler-go/straggler/restart/engine"
)

// Store is a job queue as the coordinator sees it. A store is a database, or a queue of another library on a database.
// Package queuetest checks a store.
//
// Each method may fail at any time, and may have taken effect although it returned an error. The coordinator then
// calls the method again. A method must return when its context ends.
type Store interface {
	Jobs
	Attempts
	State
	Knowledge
}

// Jobs is the part of a store with the jobs that wait for a first attempt.
type Jobs interface {
	// Waiting returns jobs that wait and may begin now, the first to begin first, without the jobs that a commit has
	// taken. It returns all waiting jobs of each batch that it returns, and at most limit other jobs.
	Waiting(ctx context.Context, limit int) ([]Job, error)
}

// Job is a task of a batch, or a single job of a stream.
type Job struct {
	// ID is the job's name in the store. All attempts of the job share it, so it is the idempotency key of the job.
	ID string `json:"id"`
	// Kind is the name of the work, such as "resize". Jobs of one kind are compared with each other.
	Kind string `json:"kind"`
	// Batch is the name of the job's batch; empty for a job of a stream. A batch has jobs of one kind.
	Batch string `json:"batch,omitempty"`
	// Work is the amount of work of the job, such as bytes. 0 means an unknown amount.
	Work float64 `json:"work,omitempty"`
	// Failures is the number of attempts of a single job that failed before the job waited in the store; see Commit.Rest.
	Failures int `json:"failures,omitempty"`
	// Input is the argument of the handler. A store that copies the input itself may leave it nil.
	Input []byte `json:"-"`
}

// Attempts is the part of a store with the attempts of jobs, and with the workers that run attempts.
type Attempts interface {
	// List returns every attempt that has not ended, and every attempt that has ended and was not in Commit.Seen.
	List(ctx context.Context) ([]Attempt, error)
	// Workers returns the workers that are known. A worker may be left out when it has been silent for an hour.
	Workers(ctx context.Context) ([]WorkerStatus, error)
}

// Attempt is one attempt of a job, as the store shows it. Its times come from one clock: the database's clock, or the
// worker's clock.
type Attempt struct {
	// Name is the name of the attempt in Submit.Name.
	Name   string
	State  engine.State
	Worker string
	// Begun and Ended are the times at which the attempt began and ended.
	Begun, Ended time.Time
	// Share is the part of its work that the attempt has done, and AsOf is the time of the report. A zero AsOf means
	// that the attempt has not reported.
	Share float64
	AsOf  time.Time
	// Error is the error with which the attempt has failed.
	Error string
	// Published says that the attempt's result is the result of its job.
	Published bool
}

// WorkerStatus is a process that runs attempts, as the store shows it.
type WorkerStatus struct {
	Name  string
	Slots int
	// Silent is the time since the worker was heard from last, by the clock of the store.
	Silent time.Duration
}

// State is the part of a store with the state of the coordinator.
type State interface {
	// Open makes the caller the coordinator of the store for the time term, and returns a new epoch and the state that
	// was saved last. If another owner is the coordinator, Open returns ErrHeld. If owner is already the coordinator,
	// Open takes over from itself, with a new epoch.
	Open(ctx context.Context, owner string, term time.Duration) (epoch int64, state []byte, err error)
	// Commit carries out a commit, and lets the caller stay the coordinator for the time Commit.Term. If another
	// coordinator has opened the store since, it does nothing and returns ErrFenced. A store with transactions carries
	// out all of the commit or nothing. Any other store saves Commit.State first. A commit may come twice in a row, and
	// the second must do no harm.
	Commit(ctx context.Context, c Commit) error
}

// ErrHeld is the error of State.Open if another process is the coordinator.
var ErrHeld = errors.New("queue: another process is the coordinator")

// ErrFenced is the error of State.Commit if another process has become the coordinator, or if the store has lost its
// last writes. The coordinator then opens the store again.
var ErrFenced = errors.New("queue: another process has become the coordinator")

// Commit has the actions of a coordinator, and the state from which the next coordinator goes on.
type Commit struct {
	Epoch int64
	Term  time.Duration // how long the caller stays the coordinator; 0: it stops, and the store may be opened at once
	// Reset makes all jobs wait that were taken and have no result. It comes before Rest.
	Reset bool
	// Rest are single jobs that have failed, and wait for their next try. A job that is not taken stays as it is. It
	// comes before Take.
	Rest []Rest
	// Take are the jobs that wait no longer, because the coordinator has them in its state.
	Take []Job
	// Submit are new attempts. An attempt waits in the queue of its worker, and begins at most once, there. A name
	// that the store knows is submitted already.
	Submit []Submit
	// Cancel are attempts to end. An attempt that has not begun never begins. A worker ends the context of an attempt
	// that runs. Nothing happens to an attempt that has ended.
	Cancel []Target
	// Publish are attempts whose output becomes the result of their job, if the job has no result.
	Publish []Publish
	// Fail are jobs that have failed for good.
	Fail []Failure
	// State replaces the saved state; nil keeps it. Seen are ended attempts that this state includes: List need not
	// return them again, and the store may forget them.
	State []byte
	Seen  []string
}

// Empty reports whether the commit asks for nothing but the time as the coordinator.
func (c *Commit) Empty() bool {
	return !c.Reset && c.State == nil &&
		len(c.Rest)+len(c.Take)+len(c.Submit)+len(c.Cancel)+len(c.Publish)+len(c.Fail)+len(c.Seen) == 0
}

// Submit is a new attempt of a job, for the queue of a worker.
type Submit struct {
	Target
	Job Job
	// Number is 0 for the job's first attempt. After a rest in the store it is at least the number of failed attempts.
	Number int
}

// Target names an attempt and the worker in whose queue it waits or that runs it.
type Target struct{ Name, Worker string }

// Publish is an attempt whose output becomes the result of a job.
type Publish struct {
	Target
	Job Job
}

// Rest is a single job that waits for a time, although it was taken. Waiting then returns it again, with the present
// Job.Failures.
type Rest struct {
	Job Job
	For time.Duration
}

// Failure is a job that has failed for good, with the error of its last attempt.
type Failure struct {
	Job   Job
	Error string
}

// Knowledge is the part of a store with the observations of coordinators, such as the run times of a kind of job. Every
// queue of a database may share it.
type Knowledge interface {
	// Get returns the value of a key, and the version of the value. A key without a value has the version 0.
	Get(ctx context.Context, key string) (value []byte, version int64, err error)
	// Put replaces the value of a key. If the version of the value has changed since Get, it returns ErrConflict.
	Put(ctx context.Context, key string, value []byte, version int64) error
}

// ErrConflict is the error of Knowledge.Put if the value has changed since it was read.
var ErrConflict = errors.New("queue: the value has changed since it was read")
