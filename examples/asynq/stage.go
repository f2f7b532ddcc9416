package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"github.com/straggler-go/straggler/internal/servers"
)

const (
	longest    = 150 * time.Second // a task without a result by then is lost
	lookEvery  = 50 * time.Millisecond
	naiveEnded = 5
	naiveTimes = 2
	settles    = 7 * time.Second // a new plugin watches before it acts
	queue      = "default"
)

// stage is a Redis with servers of asynq.
type stage struct {
	server    *servers.Redis
	databases [2]*redis.Client
	workers   [hosts]*exec.Cmd
}

// start returns a stage. The caller ends it, also after an error.
func start() (st *stage, err error) {
	st = &stage{}
	if st.server, err = servers.StartRedis(); err != nil {
		return st, err
	}
	for db := range st.databases {
		st.databases[db] = open(st.server.Socket, db)
	}
	return st, nil
}

// work starts the process of a worker.
func (st *stage) work(i, db int) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	c := exec.Command(self, "-worker", strconv.Itoa(i), "-db", strconv.Itoa(db), "-socket", st.server.Socket)
	c.Stderr = os.Stderr
	if err := c.Start(); err != nil {
		return err
	}
	st.workers[i] = c
	return nil
}

// stop ends the workers.
func (st *stage) stop() {
	for i, c := range st.workers {
		if c != nil {
			_ = c.Process.Kill()
			_ = c.Wait()
			st.workers[i] = nil
		}
	}
}

func (st *stage) end() {
	st.stop()
	if st.server != nil {
		st.server.Stop()
	}
}

// trouble kills the last worker, and starts it again, as the scenario says.
func (st *stage) trouble(ctx context.Context, s scenario, db int) error {
	began := time.Now()
	until := func(d time.Duration) bool {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(d - time.Since(began)):
			return true
		}
	}
	if s.killed[1] == 0 || !until(s.killed[0]) {
		return nil
	}
	_ = st.workers[hosts-1].Process.Kill()
	_ = st.workers[hosts-1].Wait()
	st.workers[hosts-1] = nil
	until(s.killed[1])
	return st.work(hosts-1, db)
}

// run is the result of a batch.
type run struct {
	seconds float64 // until the last result
	lost    int     // tasks without a result after the longest time
	rows    int     // rows that asynq has a second after the last result, that have not ended
}

// batch runs a batch under a rule.
func (st *stage) batch(ctx context.Context, s scenario, rule string, seed uint64) (r run, err error) {
	db := plainDB
	if rule == "plugin" {
		db = pluginDB
	}
	rdb := st.databases[db]
	// Nothing of an earlier batch is known: neither run times nor slow servers.
	st.stop()
	if err := rdb.FlushDB(ctx).Err(); err != nil {
		return r, err
	}
	for i := range hosts {
		if err := st.work(i, db); err != nil {
			return r, err
		}
	}
	time.Sleep(settles)
	client := asynq.NewClientFromRedisClient(rdb)
	began := time.Now()
	batch, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	troubled := make(chan error, 1)
	go func() { troubled <- st.trouble(batch, s, db) }()
	for i := range s.tasks {
		if err := enqueue(client, job{Scenario: s.name, Seed: seed, Task: i}); err != nil {
			return r, err
		}
	}
	for copied := map[int]bool{}; batch.Err() == nil; time.Sleep(lookEvery) {
		results, err := rdb.HGetAll(ctx, resultsKey).Result()
		if err != nil {
			return r, err
		}
		r.lost = s.tasks - len(results)
		if r.lost == 0 {
			break
		}
		if rule == "naive" {
			if err := naive(ctx, rdb, client, results, copied); err != nil {
				return r, err
			}
		}
	}
	r.seconds = time.Since(began).Seconds()
	cancel()
	if err := <-troubled; err != nil {
		return r, err
	}
	time.Sleep(time.Second)
	r.rows, err = st.clear(ctx, rdb)
	return r, err
}

func enqueue(client *asynq.Client, j job) error {
	payload, err := json.Marshal(j)
	if err != nil {
		return err
	}
	id := fmt.Sprintf("%s-%d-%d", j.Scenario, j.Seed, j.Task)
	if j.Copy {
		id += "-copy"
	}
	_, err = client.Enqueue(asynq.NewTask(kind, payload), asynq.TaskID(id), asynq.Timeout(timeout))
	return err
}

// naive copies each task once whose attempt runs for over twice the median, and cancels attempts of tasks with a result.
func naive(ctx context.Context, rdb *redis.Client, client *asynq.Client, results map[string]string, copied map[int]bool) error {
	var took []float64
	for _, text := range results {
		seconds, _ := strconv.ParseFloat(text, 64)
		took = append(took, seconds)
	}
	slices.Sort(took)
	begun, err := rdb.HGetAll(ctx, begunKey).Result()
	if err != nil {
		return err
	}
	inspector := asynq.NewInspectorFromRedisClient(rdb)
	for id, text := range begun {
		info, err := inspector.GetTaskInfo(queue, id)
		if err != nil {
			continue // it has ended
		}
		var j job
		if err := json.Unmarshal(info.Payload, &j); err != nil {
			return err
		}
		ms, _ := strconv.ParseInt(text, 10, 64)
		age := time.Since(time.UnixMilli(ms)).Seconds()
		if _, done := results[strconv.Itoa(j.Task)]; done {
			err = inspector.CancelProcessing(id)
		} else if !copied[j.Task] && len(took) >= naiveEnded && age > naiveTimes*took[len(took)/2] {
			copied[j.Task], j.Copy = true, true
			err = enqueue(client, j)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// clear removes what is left of a batch, and returns the number of rows that had not ended.
func (st *stage) clear(ctx context.Context, rdb *redis.Client) (rows int, err error) {
	inspector := asynq.NewInspectorFromRedisClient(rdb)
	for first := true; ; first = false {
		info, err := inspector.GetQueueInfo(queue)
		if err != nil {
			return rows, err
		}
		left := info.Active + info.Pending + info.Retry + info.Scheduled
		if first {
			rows = left
		}
		if left == 0 || ctx.Err() != nil {
			return rows, ctx.Err()
		}
		active, err := inspector.ListActiveTasks(queue)
		if err != nil {
			return rows, err
		}
		orphans := 0
		for _, t := range active {
			if t.IsOrphaned {
				orphans++
			}
			_ = inspector.CancelProcessing(t.ID)
		}
		if left == orphans {
			return rows, nil
		}
		_, _ = inspector.DeleteAllPendingTasks(queue)
		_, _ = inspector.DeleteAllRetryTasks(queue)
		_, _ = inspector.DeleteAllArchivedTasks(queue)
		time.Sleep(lookEvery)
	}
}
