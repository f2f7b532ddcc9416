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

// keys is the name of a batch. Its methods return the names of the batch's keys in Redis. Because of the braces, a
// Redis cluster stores all keys of a batch in the same slot.
type keys string

func (k keys) key(part string) string { return "straggler:{" + string(k) + "}:" + part }

// events is the key of a stream: the reports of the workers about their attempts.
func (k keys) events() string { return k.key("events") }

// begun is the key of a hash. The field of each attempt that has begun contains the name of its worker, or "" if the
// attempt was cancelled before it began. Two further fields contain the epoch and the fingerprint of the tasks.
func (k keys) begun() string { return k.key("begun") }

// outputs is the key of a hash. The field of an attempt contains its output, if the attempt has succeeded and its
// output is not published.
func (k keys) outputs() string { return k.key("outputs") }

// results is the key of a hash. The field of a task contains the name of the attempt that won, a space, and its
// output.
func (k keys) results() string { return k.key("results") }

// state is the key of a hash: a snapshot of the state of Run, from which another call of Run can continue.
func (k keys) state() string { return k.key("state") }

// lease is the key of a string: the token of the call of Run that has the lease.
func (k keys) lease() string { return k.key("lease") }

// message returns the ID of an attempt's message in asynq, such as "thumbnails/k3f9x2aq/17.2" for the batch
// "thumbnails", the epoch "k3f9x2aq" and attempt 2 of task 17. id is the attempt's ID with the epoch in front.
func (k keys) message(id string) string { return string(k) + "/" + id }

// all lists the keys that stay in Redis when Run has returned: all keys except the lease.
func (k keys) all() []string {
	return []string{k.events(), k.begun(), k.outputs(), k.results(), k.state()}
}

// split splits the ID of a message, such as "thumbnails/k3f9x2aq/17.2", into the name of the batch and the rest: the
// epoch and the attempt's ID.
func split(message string) (keys, string) { k, id, _ := strings.Cut(message, "/"); return keys(k), id }

// beginScript records that an attempt begins, and on which worker. beginScript returns 1 if the attempt may begin. It
// returns 0 if the attempt has begun before or was cancelled. It returns -1 if Redis does not have the batch any
// more, because the keys have expired or were lost. Then the script creates no key.
var beginScript = redis.NewScript(`
if redis.call("HGET", KEYS[1], "epoch") ~= ARGV[1] then return -1 end
return redis.call("HSETNX", KEYS[1], ARGV[2], ARGV[3])`)

// begin runs beginScript for an attempt. id is the attempt's ID with the epoch in front, and host is the name of the
// worker. If host is "", begin records that the attempt is cancelled, so that it never begins.
func (k keys) begin(ctx context.Context, rdb redis.UniversalClient, id, host string) (int, error) {
	epoch, _, _ := strings.Cut(id, "/")
	return beginScript.Run(ctx, rdb, []string{k.begun()}, epoch, id, host).Int()
}

// report is an entry of the stream of reports: a worker reports the state of an attempt.
type report struct {
	Attempt string // the attempt's ID with the epoch in front, such as "k3f9x2aq/17.2"
	Host    string // the name of the worker
	State   engine.State
	Begun   time.Time // when the attempt began; zero in the first report, because the time of this report is the begin
	Share   float64   // the share of the attempt's work that is done, from 0 to 1; 0: not known
	Error   string
}

// send appends a report to the stream of reports. Redis gives the report its time.
func (k keys) send(ctx context.Context, rdb redis.Cmdable, t report) error {
	_, err := k.sendAt(ctx, rdb, t)
	return err
}

// sendAt appends a report to the stream of reports, as send does. It also returns the time that Redis has given the
// report.
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
	if errors.Is(err, redis.Nil) { // the keys of the batch have expired, so there is no stream
		err = nil
	}
	return date(id), err
}

// succeedScript writes the output of an attempt, and appends the report of its success to the stream. If Redis does
// not have the batch any more, or has another batch of the same name, the script does nothing and returns 0.
var succeedScript = redis.NewScript(`
if redis.call("HGET", KEYS[1], "epoch") ~= ARGV[1] then return 0 end
redis.call("HSET", KEYS[2], ARGV[2], ARGV[4])
redis.call("PEXPIRE", KEYS[2], math.max(redis.call("PTTL", KEYS[1]), 1000))
redis.call("XADD", KEYS[3], "NOMKSTREAM", "*", "attempt", ARGV[2], "host", ARGV[3], "state", "succeeded")
return 1`)

// succeed writes the output of an attempt and the report of its success by one script, so that Redis has both or
// neither.
func (k keys) succeed(ctx context.Context, rdb redis.Scripter, t report, output []byte) error {
	epoch, _, _ := strings.Cut(t.Attempt, "/")
	return succeedScript.Run(ctx, rdb, []string{k.begun(), k.outputs(), k.events()}, epoch, t.Attempt, t.Host, output).Err()
}

// date returns the time at which Redis received the stream entry with this ID. The ID begins with this time, in
// milliseconds since 1970. If id is no such ID, date returns the zero time.
func date(id string) time.Time {
	ms, _, _ := strings.Cut(id, "-")
	n, err := strconv.ParseInt(ms, 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.UnixMilli(n)
}

// listen is the longest time for which a read of the stream waits for reports. Run can't interrupt a read that waits.
const listen = 100 * time.Millisecond

// read returns the new reports in the stream, each converted to an engine.Attempt. If there are none, read waits for
// reports, for at most listen.
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

// attempt converts a name such as "k3f9x2aq/17.2" to an engine.Attempt with the ID "17.2" and the task 17. ok is
// false if the name has another epoch than the batch, or is not of this form.
func (r *run) attempt(name string) (a engine.Attempt, ok bool) {
	a.ID, ok = strings.CutPrefix(name, r.epoch+"/")
	task, _, _ := strings.Cut(a.ID, ".")
	n, err := strconv.Atoi(task)
	a.Task = n
	return a, ok && err == nil && n < len(r.tasks)
}

// event converts an entry of the stream of reports to an engine.Attempt, and brings r.running, r.lastError and
// r.ended up to date. ok is false if the entry is not about an attempt of this batch.
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
