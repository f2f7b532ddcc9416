package queue

import (
	"context"

	"github.com/straggler-go/straggler/restart/engine"
)

// Source is a job queue as a worker of this package sees it. A store whose library has workers of its own has no
// Source.
//
// Each method may fail at any time, and may have taken effect although it returned an error. The worker then calls the
// method again.
type Source interface {
	// Beat tells the store that a worker is alive, and how far its attempts are. It begins attempts from the queue of
	// the worker, the oldest first, at most Beat.Free, and returns them. An attempt that the worker runs by the store's
	// knowledge, and that is not in Beat.Running, is lost: the worker was started anew, or an answer did not reach it.
	Beat(ctx context.Context, b Beat) (Orders, error)
	// End reports that an attempt has ended. If the store knows another end of the attempt, it keeps that end. If the
	// attempt is lost or was cancelled meanwhile and now succeeds, it has succeeded.
	End(ctx context.Context, e End) error
}

// Beat is the report of a worker about itself.
type Beat struct {
	Worker string
	Slots  int
	Free   int // how many attempts the worker can begin now
	// Running are the attempts that the worker runs, and the ended attempts whose end it has not yet reported.
	Running []Running
	// Leaving says that the worker begins no more attempts. The store forgets the worker, and its waiting attempts are
	// lost.
	Leaving bool
}

// Running is an attempt that a worker runs, and how far it is.
type Running struct {
	Name  string
	Share float64 // part of its work that the attempt has done; 0 means that it has not reported
}

// Orders is the answer to a Beat.
type Orders struct {
	// Begin are attempts that begin now.
	Begin []Order
	// Cancel are the names of running attempts that the coordinator wants to end.
	Cancel []string
}

// Order is an attempt that a worker begins.
type Order struct {
	Name   string
	Job    Job
	Number int // as in Submit
}

// End is the end of an attempt.
type End struct {
	Name   string
	State  engine.State // Succeeded, Failed or Cancelled
	Output []byte
	Error  string
}
