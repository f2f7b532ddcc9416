package batch

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hibiken/asynq"

	"github.com/straggler-go/straggler/restart/engine"
)

// sweep lists the workers and their slots. It also finds the attempts that have ended because their worker is dead.
func (r *run) sweep(ctx context.Context) error {
	servers, err := r.tool.Servers()
	if err != nil {
		return err
	}
	slots := map[string]int{}
	for _, s := range servers {
		for queue := range s.Queues {
			if host, ours := strings.CutPrefix(queue, queuePrefix); ours && host != "" && !strings.Contains(host, "\n") {
				slots[host] += s.Concurrency
			}
		}
	}
	for _, host := range slices.Sorted(maps.Keys(slots)) {
		if slices.Contains(r.names, host) {
			r.hosts.SetSlots(host, slots[host])
			continue
		}
		if err := r.hosts.Add(engine.Machine{Name: host, Slots: slots[host]}); err != nil {
			return err
		}
		r.names = append(r.names, host)
	}
	for _, host := range r.names {
		if err := r.checkWorker(ctx, host, slots[host] == 0); err != nil {
			return err
		}
	}
	r.swept = time.Now()
	return nil
}

// checkWorker finds the attempts that have ended without a report on the worker with the name host. There are three
// reasons: the worker is dead, the worker was started again, or the report was lost.
func (r *run) checkWorker(ctx context.Context, host string, dead bool) error {
	r.hosts.SetDown(host, dead)
	active, err := r.tool.ListActiveTasks(queueOf(host), asynq.PageSize(10_000))
	if err != nil && !errors.Is(err, asynq.ErrQueueNotFound) {
		return err
	}
	running := map[string]bool{}
	for _, t := range active {
		k, name := split(t.ID)
		a, ours := r.attempt(name)
		if !ours || k != r.keys {
			continue
		}
		if running[a.ID] = true; dead || t.IsOrphaned {
			a.Machine, a.State = host, engine.Lost
			r.toPush = append(r.toPush, a)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(r.running)) {
		b := r.running[id]
		switch {
		case b.host != host:
		case running[id], !b.silent:
			r.running[id] = began{host, !running[id]}
		default:
			if err := r.findEnd(ctx, id, host); err != nil {
				return err
			}
		}
	}
	return nil
}

// began is an attempt whose begin was reported, and whose end was not.
type began struct {
	host   string
	silent bool // true if asynq did not list the attempt as active at the last sweep
}

// findEnd finds out whether and how an attempt has ended, if there is no report of its end. The attempt has succeeded
// if Redis has its output. Otherwise findEnd asks asynq about the message of the attempt.
func (r *run) findEnd(ctx context.Context, id, host string) error {
	a, _ := r.attempt(r.named(id))
	info, err := r.tool.GetTaskInfo(queueOf(host), r.message(id))
	gone := errors.Is(err, asynq.ErrTaskNotFound) || errors.Is(err, asynq.ErrQueueNotFound)
	if err != nil && !gone {
		return err
	}
	switch succeeded, err := r.rdb.HExists(ctx, r.outputs(), r.named(id)).Result(); {
	case err != nil:
		return err
	case succeeded:
		a.State = engine.Succeeded
	case gone, info.State == asynq.TaskStateCompleted:
		a.State = engine.Lost
	case info.State == asynq.TaskStateArchived:
		a.State, a.Ended, r.lastError[a.Task] = engine.Failed, info.LastFailedAt, info.LastErr
	default: // the attempt has not ended
		return nil
	}
	a.Machine = host
	r.toPush = append(r.toPush, a)
	delete(r.running, id)
	return nil
}
