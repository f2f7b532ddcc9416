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
	errBehind  = errors.New("the last moments of Redis are lost")
	errWait    = errors.New("not yet")
	errForGood = errors.New("lost for good")
)

func newToken() string { return rand.Text() }

const (
	term = 5 * time.Second // for which the others wait for a process that falls silent
	day  = 24 * time.Hour
)

// abandoned is for how long a batch is kept that nobody is at work on.
func (r *run) abandoned() time.Duration { return max(r.Retention, day) }

// renewed is 1 if the lease is still one's own.
var renewed = redis.NewScript(`
if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("PEXPIRE", KEYS[1], ARGV[2]) end
return 0`)

// renew keeps the lease.
func (r *run) renew(ctx context.Context) error {
	now := time.Now()
	if now.Sub(r.leased) < term/8 {
		return nil
	}
	ours, err := renewed.Run(ctx, r.rdb, []string{r.lease()}, r.token, term.Milliseconds()).Int()
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
	if got, err := r.rdb.SetNX(ctx, r.lease(), r.token, term).Result(); err != nil {
		return err
	} else if !got {
		if err := r.renew(ctx); errors.Is(err, errTaken) {
			return errWait
		} else if err != nil {
			return err
		}
	}
	r.leased = now
	r.running, r.told, r.ended = map[string]began{}, nil, nil
	r.phase, r.hosts, r.names, r.over = nil, nil, nil, time.Time{}
	if err := r.open(ctx); err != nil {
		return err
	}
	saved, err := r.rdb.HGetAll(ctx, r.state()).Result()
	if err != nil {
		return err
	}
	if saved["epoch"] != r.epoch {
		saved = nil // a process wrote it that had not heard yet that all was lost
	}
	if err := r.learn(ctx, saved["experience"]); err != nil {
		return err
	}
	if r.hosts, err = engine.NewMachines(engine.MachinesConfig{}); err != nil {
		return err
	}
	r.last = "0"
	if len(saved) > 0 {
		if err := r.restore(saved); err != nil {
			r.Log.Warn("batch: begun anew, without what was saved", "batch", string(r.keys), "error", err)
		}
	}
	if err := r.sweep(ctx); err != nil {
		return err
	}
	if len(r.names) == 0 {
		return r.noWorker()
	}
	if r.phase == nil {
		if r.phase, err = engine.New(r.config()); err != nil {
			return fmt.Errorf("batch: %w: %w", errForGood, err)
		}
	}
	for task := range r.tasks {
		r.phase.SetEligible(task, r.Alone == nil || !r.Alone(task), true)
	}
	return r.adopt(ctx)
}

// open finds the batch, or makes it. One that is not there any more has been lost: what was known of it is not made up.
func (r *run) open(ctx context.Context) error {
	var epoch, tasks *redis.StringCmd
	same := sameTasks(r.tasks)
	_, err := r.rdb.TxPipelined(ctx, func(p redis.Pipeliner) error {
		p.HSetNX(ctx, r.begun(), "epoch", strings.ToLower(rand.Text()[:8]))
		epoch = p.HGet(ctx, r.begun(), "epoch")
		p.HSetNX(ctx, r.begun(), "tasks", same)
		tasks = p.HGet(ctx, r.begun(), "tasks")
		p.XAdd(ctx, &redis.XAddArgs{Stream: r.events(), Values: []any{"attempt", ""}})
		p.Expire(ctx, r.begun(), r.abandoned())
		p.Expire(ctx, r.events(), r.abandoned())
		return nil
	})
	if err != nil {
		return err
	}
	if r.epoch != "" && r.epoch != epoch.Val() {
		return fmt.Errorf("batch %s: %w: Redis has lost what it kept of the batch, which has to be run again", string(r.keys),
			errForGood)
	}
	r.epoch = epoch.Val()
	if got := tasks.Val(); got != same {
		n, _, _ := strings.Cut(got, " ")
		return fmt.Errorf("batch %s: %w: a batch of this name has %s other tasks, by their types and payloads, and its results "+
			"are kept: give each batch a name of its own, such as one with its date", string(r.keys), errForGood, n)
	}
	return nil
}

// adopt tells the phase of the results that there are, and has what has begun of other tasks looked for.
func (r *run) adopt(ctx context.Context) error {
	all, err := r.rdb.HGetAll(ctx, r.begun()).Result()
	if err != nil {
		return err
	}
	has := map[int]bool{}
	err = r.eachResult(ctx, func(task int, name, _ string) {
		has[task] = true
		r.told = append(r.told, engine.Attempt{
			ID: strings.TrimPrefix(name, r.epoch+"/"), Task: task, State: engine.Succeeded, Published: true,
		})
	})
	if err != nil {
		return err
	}
	outputs, err := r.rdb.HKeys(ctx, r.outputs()).Result()
	for _, name := range outputs {
		if a, ours := r.attempt(name); ours && !has[a.Task] {
			a.Machine, a.State = all[name], engine.Succeeded
			r.told = append(r.told, a)
			delete(all, name)
		}
	}
	for name, host := range all {
		if a, ours := r.attempt(name); ours && host != "" && !has[a.Task] {
			r.running[a.ID] = began{host: host}
		}
	}
	return err
}

func (r *run) config() engine.Config {
	c := engine.Config{Tasks: len(r.tasks), Work: r.Work, Interval: r.Interval, Policy: r.Policy, Experience: r.experience}
	if r.Configure != nil {
		r.Configure(&c)
	}
	c.Machines = r.hosts
	return c
}

// restore makes the hosts and the phase of what is saved. An error leaves neither.
func (r *run) restore(saved map[string]string) error {
	if err := r.hosts.UnmarshalBinary([]byte(saved["hosts"])); err != nil {
		return err
	}
	phase, err := engine.Restore(r.config(), engine.Saved{Snapshot: []byte(saved["phase"])})
	if err != nil {
		r.hosts, _ = engine.NewMachines(engine.MachinesConfig{})
		return err
	}
	r.phase, r.last, r.names = phase, saved["last"], strings.Split(saved["names"], "\n")
	return nil
}

// save writes what is known, and drops the events that it is known from.
func (r *run) save(ctx context.Context) error {
	phase, _ := r.phase.MarshalBinary() // neither fails
	hosts, _ := r.hosts.MarshalBinary()
	var experience []byte
	if r.experience != nil {
		experience, _ = r.experience.MarshalBinary()
	}
	_, err := r.rdb.TxPipelined(ctx, func(p redis.Pipeliner) error {
		p.HSet(ctx, r.state(), "phase", phase, "hosts", hosts, "names", strings.Join(r.names, "\n"), "last", r.last,
			"epoch", r.epoch, "experience", experience)
		p.XTrimMinID(ctx, r.events(), r.last)
		for _, key := range r.all() {
			p.Expire(ctx, key, r.abandoned())
		}
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

// eachResult tells of each result, with the attempt that it is of.
func (r *run) eachResult(ctx context.Context, do func(task int, name, data string)) error {
	results, err := r.rdb.HGetAll(ctx, r.results()).Result()
	for task := range r.tasks {
		if id, data, ok := strings.Cut(results[strconv.Itoa(task)], " "); ok {
			do(task, id, data)
		}
	}
	return err
}
