package batch

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/tracker"
)

// keys names what is kept of a batch in Redis, all of it in one slot of a cluster.
type keys string

func (k keys) key(what string) string   { return "straggler:{" + string(k) + "}:" + what }
func (k keys) events() string           { return k.key("events") }  // a stream
func (k keys) begun() string            { return k.key("begun") }   // by attempt, its worker or none; and the epoch
func (k keys) outputs() string          { return k.key("outputs") } // by attempt that has succeeded and is not published
func (k keys) results() string          { return k.key("results") } // by task
func (k keys) state() string            { return k.key("state") }
func (k keys) lease() string            { return k.key("lease") }
func (k keys) message(id string) string { return string(k) + "/" + id } // what asynq calls an attempt: batch/epoch/task.number
func (k keys) all() []string {
	return []string{k.events(), k.begun(), k.outputs(), k.results(), k.state()}
}
func split(message string) (keys, string) { k, id, _ := strings.Cut(message, "/"); return keys(k), id }

// beginning takes note of where an attempt begins, once in its life: 1 if it may, 0 if it did before or never will, and -1 if
// its batch is not known, any more or since Redis has lost it. Nothing of a batch is made again that has been forgotten.
var beginning = redis.NewScript(`
if redis.call("HGET", KEYS[1], "epoch") ~= ARGV[1] then return -1 end
return redis.call("HSETNX", KEYS[1], ARGV[2], ARGV[3])`)

// begin is 1 if the attempt, of which the epoch is part, may begin on a host; on none, that it never will.
func (k keys) begin(ctx context.Context, rdb redis.UniversalClient, id, host string) (int, error) {
	epoch, _, _ := strings.Cut(id, "/")
	return beginning.Run(ctx, rdb, []string{k.begun()}, epoch, id, host).Int()
}

// told is what is told of an attempt.
type told struct {
	Attempt, Host string // the attempt with its epoch
	State         engine.State
	Begun         time.Time
	Share         float64 // of its work that is done
	Error         string
}

// tell appends an event to the stream, which dates it.
func (k keys) tell(ctx context.Context, rdb redis.Cmdable, t told) error {
	_, err := k.tellAt(ctx, rdb, t)
	return err
}

func (k keys) tellAt(ctx context.Context, rdb redis.Cmdable, t told) (time.Time, error) {
	values := []any{"attempt", t.Attempt, "host", t.Host, "state", t.State.String()}
	if !t.Begun.IsZero() {
		values = append(values, "begun", t.Begun.UnixMilli())
	}
	if t.Share > 0 {
		values = append(values, "share", t.Share)
	}
	if t.Error != "" {
		values = append(values, "error", t.Error)
	}
	id, err := rdb.XAdd(ctx, &redis.XAddArgs{Stream: k.events(), NoMkStream: true, Values: values}).Result()
	if errors.Is(err, redis.Nil) { // the batch is forgotten
		err = nil
	}
	return date(id), err
}

// succeeding keeps the output of an attempt and tells of its success, both or neither, if the batch is known.
var succeeding = redis.NewScript(`
if redis.call("HGET", KEYS[1], "epoch") ~= ARGV[1] then return 0 end
redis.call("HSET", KEYS[2], ARGV[2], ARGV[4])
redis.call("PEXPIRE", KEYS[2], math.max(redis.call("PTTL", KEYS[1]), 1000))
redis.call("XADD", KEYS[3], "NOMKSTREAM", "*", "attempt", ARGV[2], "host", ARGV[3], "state", "succeeded")
return 1`)

// succeed keeps the output of an attempt and tells of its success. A Redis that loses one of them loses both.
func (k keys) succeed(ctx context.Context, rdb redis.Scripter, t told, output []byte) error {
	epoch, _, _ := strings.Cut(t.Attempt, "/")
	return succeeding.Run(ctx, rdb, []string{k.begun(), k.outputs(), k.events()}, epoch, t.Attempt, t.Host, output).Err()
}

// date returns when Redis took an entry of a stream.
func date(id string) time.Time {
	ms, _, _ := strings.Cut(id, "-")
	n, err := strconv.ParseInt(ms, 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.UnixMilli(n)
}

// listen is for how long a read waits at most: nothing interrupts one.
const listen = 100 * time.Millisecond

// read waits for what is told, for a moment, and returns it as the phase wants it.
func (r *run) read(ctx context.Context) (events []engine.Attempt, err error) {
	got, err := r.rdb.XRead(ctx, &redis.XReadArgs{
		Streams: []string{r.events(), r.last}, Block: min(max(r.Interval, time.Millisecond), listen), Count: 10_000,
	}).Result()
	if errors.Is(err, redis.Nil) || err != nil {
		if errors.Is(err, redis.Nil) {
			err = nil
		}
		return nil, err
	}
	for _, m := range got[0].Messages {
		r.last = m.ID
		if a, ok := r.event(m); ok {
			events = append(events, a)
		}
	}
	return events, nil
}

// attempt returns the attempt of which a name with its epoch is told, if it is of this one.
func (r *run) attempt(name string) (a engine.Attempt, ok bool) {
	a.ID, ok = strings.CutPrefix(name, r.epoch+"/")
	task, _, _ := strings.Cut(a.ID, ".")
	n, err := strconv.Atoi(task)
	a.Task = n
	return a, ok && err == nil && n < len(r.tasks)
}

func (r *run) event(m redis.XMessage) (a engine.Attempt, ok bool) {
	text := func(key string) string { s, _ := m.Values[key].(string); return s }
	if a, ok = r.attempt(text("attempt")); !ok || a.State.UnmarshalText([]byte(text("state"))) != nil {
		return a, false
	}
	a.Machine = text("host")
	if ms, err := strconv.ParseInt(text("begun"), 10, 64); err == nil {
		a.Begun = time.UnixMilli(ms)
	}
	delete(r.running, a.ID)
	switch at := date(m.ID); a.State {
	case engine.Running:
		r.running[a.ID] = began{host: a.Machine}
		if a.Begun.IsZero() {
			a.Begun = at
		}
		if share, err := strconv.ParseFloat(text("share"), 64); err == nil {
			a.Progress, a.AsOf = tracker.Report{Score: share}, at
		}
	default:
		a.Ended = at
	}
	switch a.State {
	case engine.Failed:
		r.trouble[a.Task] = text("error")
	case engine.Cancelled:
		r.ended = append(r.ended, queueOf(a.Machine)+" "+r.message(a.ID))
	}
	return a, true
}
