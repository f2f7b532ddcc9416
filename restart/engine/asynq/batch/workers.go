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

// sweep looks which workers there are, and what has died with one.
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
		if err := r.bury(ctx, host, slots[host] == 0); err != nil {
			return err
		}
	}
	r.swept = time.Now()
	return nil
}

// bury tells of attempts that have died with their worker, with all of it or before it was started again, and of those of
// whose end nothing was heard.
func (r *run) bury(ctx context.Context, host string, dead bool) error {
	r.hosts.SetDown(host, dead)
	active, err := r.tool.ListActiveTasks(queueOf(host), asynq.PageSize(10_000))
	if err != nil && !errors.Is(err, asynq.ErrQueueNotFound) {
		return err
	}
	goesOn := map[string]bool{}
	for _, t := range active {
		k, name := split(t.ID)
		a, ours := r.attempt(name)
		if !ours || k != r.keys {
			continue
		}
		if goesOn[a.ID] = true; dead || t.IsOrphaned {
			a.Machine, a.State = host, engine.Lost
			r.told = append(r.told, a)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(r.running)) {
		b := r.running[id]
		switch {
		case b.host != host:
		case goesOn[id], !b.silent:
			r.running[id] = began{host, !goesOn[id]}
		default:
			if err := r.inquire(ctx, id, host); err != nil {
				return err
			}
		}
	}
	return nil
}

// began is an attempt of whose end nothing was heard; silent if asynq does not run it either.
type began struct {
	host   string
	silent bool
}

// inquire finds out how an attempt has ended whose worker did not tell, or whose end Redis has lost. It has succeeded if
// its output is there.
func (r *run) inquire(ctx context.Context, id, host string) error {
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
		a.State, a.Ended, r.trouble[a.Task] = engine.Failed, info.LastFailedAt, info.LastErr
	default: // it waits, or goes on
		return nil
	}
	a.Machine = host
	r.told = append(r.told, a)
	delete(r.running, id)
	return nil
}
