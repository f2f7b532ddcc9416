package batch

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/straggler-go/straggler/restart/engine"
)

var (
	errTaken   = errors.New("another process has taken the batch over")
	errWait    = errors.New("not yet")
	errForGood = errors.New("lost for good")
)

func newToken() string { return rand.Text() }

// term is how long a process that falls silent is waited for by the others.
func (r *run) term() time.Duration { return max(5*time.Second, 4*r.Interval) }

// renewed is 1 if the lease is still one's own.
var renewed = redis.NewScript(`
if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("PEXPIRE", KEYS[1], ARGV[2]) end
return 0`)

// renew keeps the lease.
func (r *run) renew(ctx context.Context) error {
	now := time.Now()
	if now.Sub(r.leased) < r.term()/8 {
		return nil
	}
	ours, err := renewed.Run(ctx, r.rdb, []string{r.lease()}, r.token, r.term().Milliseconds()).Int()
	if err == nil && ours == 0 {
		return errTaken
	}
	if err == nil {
		r.leased = now
	}
	return err
}

// unlock ends the lease, so that others need not wait.
func (r *run) unlock() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	renewed.Run(ctx, r.rdb, []string{r.lease()}, r.token, 1)
}

// start waits for the lease and for the first worker, and makes the phase, of what is saved if anything is.
func (r *run) start(ctx context.Context) error {
	now := time.Now()
	if got, err := r.rdb.SetNX(ctx, r.lease(), r.token, r.term()).Result(); err != nil {
		return err
	} else if !got {
		if err := r.renew(ctx); errors.Is(err, errTaken) {
			return errWait
		} else if err != nil {
			return err
		}
	}
	r.leased = now
	r.phase, r.hosts, r.names, r.told, r.over = nil, nil, nil, nil, time.Time{}
	saved, err := r.rdb.HGetAll(ctx, r.state()).Result()
	if err != nil {
		return err
	}
	if n := saved["tasks"]; n != "" && n != strconv.Itoa(len(r.tasks)) {
		return fmt.Errorf("batch: %w: batch %s has %s tasks, and not %d", errForGood, string(r.keys), n, len(r.tasks))
	}
	if r.hosts, err = engine.NewHosts(engine.HostsConfig{}); err != nil {
		return err
	}
	r.last = "0"
	if len(saved) > 0 {
		if err := r.restore(saved); err != nil {
			r.Log.Warn("batch: begun anew, without what was saved", "batch", string(r.keys), "error", err)
		}
	}
	if err := r.sweep(); err != nil {
		return err
	}
	if len(r.names) == 0 {
		return errWait
	}
	if r.phase == nil {
		if r.phase, err = engine.New(r.config()); err != nil {
			return fmt.Errorf("batch: %w: %w", errForGood, err)
		}
	}
	for task := range r.tasks {
		r.phase.SetEligible(task, r.Alone == nil || !r.Alone(task), true)
	}
	return r.eachResult(ctx, func(task int, id, _ string) {
		r.told = append(r.told, engine.Attempt{ID: id, Task: task, State: engine.Succeeded, Published: true})
	})
}

func (r *run) config() engine.Config {
	c := engine.Config{Tasks: len(r.tasks), Work: r.Work, Interval: r.Interval, Policy: r.Policy}
	if r.Configure != nil {
		r.Configure(&c)
	}
	c.Hosts = r.hosts
	return c
}

// restore makes the hosts and the phase of what is saved. An error leaves neither.
func (r *run) restore(saved map[string]string) error {
	if err := r.hosts.UnmarshalBinary([]byte(saved["hosts"])); err != nil {
		return err
	}
	phase, err := engine.Restore(r.config(), engine.Saved{Snapshot: []byte(saved["phase"])})
	if err != nil {
		r.hosts, _ = engine.NewHosts(engine.HostsConfig{})
		return err
	}
	r.phase, r.last, r.names = phase, saved["last"], strings.Split(saved["names"], "\n")
	return nil
}

// save writes what is known, and drops the events that it is known from.
func (r *run) save(ctx context.Context) error {
	phase, _ := r.phase.MarshalBinary() // neither fails
	hosts, _ := r.hosts.MarshalBinary()
	_, err := r.rdb.TxPipelined(ctx, func(p redis.Pipeliner) error {
		p.HSet(ctx, r.state(), "phase", phase, "hosts", hosts, "names", strings.Join(r.names, "\n"), "last", r.last,
			"tasks", len(r.tasks))
		p.XTrimMinID(ctx, r.events(), r.last)
		return nil
	})
	if err == nil {
		r.saved = time.Now()
	}
	return err
}

// expire lets Redis forget the batch in time.
func (r *run) expire(ctx context.Context) error {
	_, err := r.rdb.TxPipelined(ctx, func(p redis.Pipeliner) error {
		for _, key := range r.all() {
			p.Expire(ctx, key, r.Retention)
		}
		return nil
	})
	return err
}

func (r *run) eachResult(ctx context.Context, do func(task int, id, data string)) error {
	results, err := r.rdb.HGetAll(ctx, r.results()).Result()
	for task := range r.tasks {
		if id, data, ok := strings.Cut(results[strconv.Itoa(task)], " "); ok {
			do(task, id, data)
		}
	}
	return err
}
