package sqlqueue

import (
	"context"

	"github.com/straggler-go/straggler/restart/engine/queue"
)

// InsertBatch adds a batch without running it.
func InsertBatch(q *Queue, ctx context.Context, batch string, jobs []queue.Job) error {
	return q.insertBatch(ctx, batch, jobs)
}

// Results returns the results of a batch, or of the single jobs if batch is "".
func Results(q *Queue, ctx context.Context, batch string) (all []queue.Result, ended bool, err error) {
	found, err := q.results(ctx, `batch = $2`, batch)
	ended = true
	for _, r := range found {
		all, ended = append(all, r.Result), ended && r.ended
	}
	return all, ended, err
}
