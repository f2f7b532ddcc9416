package queuetest

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/straggler-go/straggler/restart/engine/queue"
)

// Fault is a kind of failure of a call to a store.
type Fault int

// The faults.
const (
	Refused    Fault = iota // the call has no effect, and fails
	AnswerLost              // the call has its effect, and fails
	Slow                    // the call takes long
)

// String returns the fault's name.
func (f Fault) String() string { return [...]string{"refused", "answer lost", "slow"}[f] }

// Faults makes calls to a store go wrong: the call with the number At, counted from 1, and after it one call in Every, at
// irregular distances. At regular distances a coordinator that repeats a commit at intervals may fail in this commit each
// time, and not in the calls between. Every 0 means no further call.
type Faults struct {
	Fault     Fault
	At, Every int64
	Delay     time.Duration // of a slow call
	calls     atomic.Int64
}

// Calls returns the number of calls so far.
func (f *Faults) Calls() int64 { return f.calls.Load() }

var errFault = errors.New("queuetest: this call went wrong")

// scrambled returns a number that looks random, and is always the same for the same n.
func scrambled(n int64) int64 { return int64(uint64(n) * 0x9e3779b97f4a7c15 >> 33) }

func (f *Faults) call(ctx context.Context, do func() error) error {
	n := f.calls.Add(1)
	if n != f.At && (f.Every == 0 || n < f.At || scrambled(n-f.At)%f.Every != 0) {
		return do()
	}
	switch f.Fault {
	case Refused:
		return errFault
	case AnswerLost:
		_ = do()
		return errFault
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(f.Delay):
	}
	return do()
}

// Store returns a store whose calls may go wrong.
func (f *Faults) Store(s queue.Store) queue.Store { return faultyStore{f, s} }

// Source returns a source whose calls may go wrong.
func (f *Faults) Source(s queue.Source) queue.Source { return faultySource{f, s} }

type faultyStore struct {
	f *Faults
	s queue.Store
}

func (x faultyStore) Waiting(ctx context.Context, limit int) (all []queue.Job, err error) {
	err = x.f.call(ctx, func() error { all, err = x.s.Waiting(ctx, limit); return err })
	return all, err
}

func (x faultyStore) List(ctx context.Context) (all []queue.Attempt, err error) {
	err = x.f.call(ctx, func() error { all, err = x.s.List(ctx); return err })
	return all, err
}

func (x faultyStore) Workers(ctx context.Context) (all []queue.WorkerStatus, err error) {
	err = x.f.call(ctx, func() error { all, err = x.s.Workers(ctx); return err })
	return all, err
}

func (x faultyStore) Open(ctx context.Context, owner string, term time.Duration) (epoch int64, state []byte, err error) {
	err = x.f.call(ctx, func() error { epoch, state, err = x.s.Open(ctx, owner, term); return err })
	return epoch, state, err
}

func (x faultyStore) Commit(ctx context.Context, c queue.Commit) error {
	return x.f.call(ctx, func() error { return x.s.Commit(ctx, c) })
}

func (x faultyStore) Get(ctx context.Context, key string) (value []byte, version int64, err error) {
	err = x.f.call(ctx, func() error { value, version, err = x.s.Get(ctx, key); return err })
	return value, version, err
}

func (x faultyStore) Put(ctx context.Context, key string, value []byte, version int64) error {
	return x.f.call(ctx, func() error { return x.s.Put(ctx, key, value, version) })
}

type faultySource struct {
	f *Faults
	s queue.Source
}

func (x faultySource) Beat(ctx context.Context, b queue.Beat) (o queue.Orders, err error) {
	err = x.f.call(ctx, func() error { o, err = x.s.Beat(ctx, b); return err })
	return o, err
}

func (x faultySource) End(ctx context.Context, e queue.End) error {
	return x.f.call(ctx, func() error { return x.s.End(ctx, e) })
}
