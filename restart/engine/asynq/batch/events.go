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

// keys is a batch's name, and names its keys in Redis. The braces put all keys of a batch into one slot of a cluster.
type keys string

func (k keys) key(part string) string { return "straggler:{" + string(k) + "}:" + part }
func (k keys) events() string         { return k.key("events") }  // the stream of reports
func (k keys) begun() string          { return k.key("begun") }   // by attempt: its worker, or "" if cancelled; the epoch
func (k keys) outputs() string        { return k.key("outputs") } // by attempt: output of a success that is not published
func (k keys) results() string        { return k.key("results") } // by task: the attempt and its output
func (k keys) state() string          { return k.key("state") }   // the snapshot
func (k keys) lease() string          { return k.key("lease") }   // the token of the call of Run that works

// message returns the ID of an attempt's message in asynq: batch/epoch/task.number.
func (k keys) message(id string) string { return string(k) + "/" + id }

// all lists the keys that outlive a call of Run.
func (k keys) all() []string {
	return []string{k.events(), k.begun(), k.outputs(), k.results(), k.state()}
}

// split splits the ID of a message into the batch and the attempt with its epoch.
func split(message string) (keys, string) { k, id, _ := strings.Cut(message, "/"); return keys(k), id }

// beginScript records on which worker an attempt begins. beginScript returns 1 if the attempt may begin, 0 if it has
// begun before or was cancelled, and -1 if Redis does not know the batch, because the batch is forgotten or lost. The
// script creates no key of such a batch.
var beginScript = redis.NewScript(`
if redis.call("HGET", KEYS[1], "epoch") ~= ARGV[1] then return -1 end
return redis.call("HSETNX", KEYS[1], ARGV[2], ARGV[3])`)

// begin runs beginScript for an attempt, named with its epoch. An empty host means that the attempt shall never begin.
func (k keys) begin(ctx context.Context, rdb redis.UniversalClient, id, host string) (int, error) {
	epoch, _, _ := strings.Cut(id, "/")
	return beginScript.Run(ctx, rdb, []string{k.begun()}, epoch, id, host).Int()
}

// report is a report of a worker about an attempt.
type report struct {
	Attempt string // the attempt's name with its epoch
	Host    string // the worker
	State   engine.State
	Begun   time.Time // zero in the first report, whose date is the begin
	Share   float64   // the share of the work that is done
	Error   string
}

// send appends a report to the stream. Redis dates the report.
func (k keys) send(ctx context.Context, rdb redis.Cmdable, t report) error {
	_, err := k.sendAt(ctx, rdb, t)
	return err
}

// sendAt is send, and returns the date.
func (k keys) sendAt(ctx context.Context, rdb redis.Cmdable, t report) (time.Time, error) {
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
	if errors.Is(err, redis.Nil) { // the batch is forgotten, and has no stream
		err = nil
	}
	return date(id), err
}

// succeedScript writes the output of an attempt and reports its success, if Redis knows the batch.
var succeedScript = redis.NewScript(`
if redis.call("HGET", KEYS[1], "epoch") ~= ARGV[1] then return 0 end
redis.call("HSET", KEYS[2], ARGV[2], ARGV[4])
redis.call("PEXPIRE", KEYS[2], math.max(redis.call("PTTL", KEYS[1]), 1000))
redis.call("XADD", KEYS[3], "NOMKSTREAM", "*", "attempt", ARGV[2], "host", ARGV[3], "state", "succeeded")
return 1`)

// succeed writes the output of an attempt and reports its success in one script, so that Redis has both or neither.
func (k keys) succeed(ctx context.Context, rdb redis.Scripter, t report, output []byte) error {
	epoch, _, _ := strings.Cut(t.Attempt, "/")
	return succeedScript.Run(ctx, rdb, []string{k.begun(), k.outputs(), k.events()}, epoch, t.Attempt, t.Host, output).Err()
}

// date returns the time at which Redis has received a stream entry. The entry's ID begins with that time.
func date(id string) time.Time {
	ms, _, _ := strings.Cut(id, "-")
	n, err := strconv.ParseInt(ms, 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.UnixMilli(n)
}

// listen is how long a read waits at most. A read can't be interrupted.
const listen = 100 * time.Millisecond

// read waits for reports, for at most listen, and returns them as the phase takes them.
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

// attempt returns the attempt of a name with an epoch. ok is false if the name is of another epoch, or not a name.
func (r *run) attempt(name string) (a engine.Attempt, ok bool) {
	a.ID, ok = strings.CutPrefix(name, r.epoch+"/")
	task, _, _ := strings.Cut(a.ID, ".")
	n, err := strconv.Atoi(task)
	a.Task = n
	return a, ok && err == nil && n < len(r.tasks)
}

// event converts a stream entry to an attempt. ok is false if the entry is not about an attempt of this epoch.
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
		r.lastError[a.Task] = text("error")
	case engine.Cancelled:
		r.ended = append(r.ended, queueOf(a.Machine)+" "+r.message(a.ID))
	}
	return a, true
}
