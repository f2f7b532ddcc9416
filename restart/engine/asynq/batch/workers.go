package batch

import (
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hibiken/asynq"

	"github.com/straggler-go/straggler/restart/engine"
)

// sweep looks which workers there are, and what has died with one.
func (r *run) sweep() error {
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
			continue
		}
		if err := r.hosts.Add(engine.Host{Name: host, Slots: slots[host]}); err != nil {
			return err
		}
		r.names = append(r.names, host)
	}
	for _, host := range r.names {
		if err := r.bury(host, slots[host] == 0); err != nil {
			return err
		}
	}
	r.swept = time.Now()
	return nil
}

// bury tells of attempts that have died with their worker: with all of it, or before it was started again.
func (r *run) bury(host string, dead bool) error {
	r.hosts.SetDown(host, dead)
	active, err := r.tool.ListActiveTasks(queueOf(host), asynq.PageSize(10_000))
	if err != nil && !errors.Is(err, asynq.ErrQueueNotFound) {
		return err
	}
	for _, t := range active {
		if k, id := split(t.ID); k == r.keys && (dead || t.IsOrphaned) {
			task, _, _ := strings.Cut(id, ".")
			if n, err := strconv.Atoi(task); err == nil {
				r.told = append(r.told, engine.Attempt{ID: id, Task: n, Host: host, State: engine.Lost})
			}
		}
	}
	return nil
}
