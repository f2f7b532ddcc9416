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
	errLeaseTaken = errors.New("another process has taken the batch over")
	errRedisLost  = errors.New("the last writes to Redis are lost")
	errNotYet     = errors.New("not yet")
	errFatal      = errors.New("can't go on") // another try does not help
)

func newToken() string { return rand.Text() }

const (
	// leaseTerm is how long the lease lasts after a call of Run has renewed it. After leaseTerm without a renewal,
	// another call of Run takes the lease.
	leaseTerm = 5 * time.Second
	day       = 24 * time.Hour
)

// keptFor returns how long Redis keeps the keys of a batch while no call of Run works on the batch.
func (r *run) keptFor() time.Duration { return max(r.Retention, day) }

// renewScript prolongs the lease if the lease key contains the token ARGV[1]. Otherwise another call of Run has the
// lease, or nobody has it, and the script returns 0.
var renewScript = redis.NewScript(`
if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("PEXPIRE", KEYS[1], ARGV[2]) end
return 0`)

// renew prolongs the lease, if an eighth of leaseTerm has passed since this call of Run renewed it last. It returns
// errLeaseTaken if this call of Run has lost the lease.
func (r *run) renew(ctx context.Context) error {
	now := time.Now()
	if now.Sub(r.leased) < leaseTerm/8 {
		return nil
	}
	ours, err := renewScript.Run(ctx, r.rdb, []string{r.lease()}, r.token, leaseTerm.Milliseconds()).Int()
	if err == nil && ours == 0 {
		return errLeaseTaken
	}
	if err == nil {
		r.leased = now
	}
	return err
}

// unlock lets the lease of this call of Run end after a millisecond, so that another call of Run need not wait until
// the lease runs out.
func (r *run) unlock() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	renewScript.Run(ctx, r.rdb, []string{r.lease()}, r.token, 1)
}

// start takes the lease and makes the engine.Phase that decides about the batch. If Redis has a snapshot of the
// batch, start makes the phase from the snapshot. start returns errNotYet if another call of Run has the lease, or if
// there is no worker.
func (r *run) start(ctx context.Context) error {
	now := time.Now()
	if got, err := r.rdb.SetNX(ctx, r.lease(), r.token, leaseTerm).Result(); err != nil {
		return err
	} else if !got {
		if err := r.renew(ctx); errors.Is(err, errLeaseTaken) {
			return errNotYet
		} else if err != nil {
			return err
		}
	}
	r.leased = now
	r.running, r.toPush, r.ended = map[string]began{}, nil, nil
	r.phase, r.hosts, r.names, r.doneSince = nil, nil, nil, time.Time{}
	if err := r.open(ctx); err != nil {
		return err
	}
	saved, err := r.rdb.HGetAll(ctx, r.state()).Result()
	if err != nil {
		return err
	}
	if saved["epoch"] != r.epoch {
		saved = nil // the snapshot is of an earlier batch of the same name, which Redis has lost
	}
	if err := r.loadExperience(ctx, saved["experience"]); err != nil {
		return err
	}
	if r.hosts, err = engine.NewMachines(engine.MachinesConfig{}); err != nil {
		return err
	}
	r.last = "0"
	if len(saved) > 0 {
		if err := r.restore(saved); err != nil {
			r.Log.Warn("batch: the snapshot can't be read, and the phase begins anew", "batch", string(r.keys), "error", err)
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
			return fmt.Errorf("batch: %w: %w", errFatal, err)
		}
	}
	for task := range r.tasks {
		r.phase.SetEligible(task, r.NoCopy == nil || !r.NoCopy(task), true)
	}
	return r.adopt(ctx)
}

// open finds the batch in Redis, or creates the batch. It sets r.epoch. If this call of Run has opened the batch
// before, and Redis no longer has it, open returns an error, because Redis has lost the batch. open also returns an
// error if Redis has other tasks under the name of the batch.
func (r *run) open(ctx context.Context) error {
	var epoch, tasks *redis.StringCmd
	same := fingerprint(r.tasks)
	_, err := r.rdb.TxPipelined(ctx, func(p redis.Pipeliner) error {
		p.HSetNX(ctx, r.begun(), "epoch", strings.ToLower(rand.Text()[:8]))
		epoch = p.HGet(ctx, r.begun(), "epoch")
		p.HSetNX(ctx, r.begun(), "tasks", same)
		tasks = p.HGet(ctx, r.begun(), "tasks")
		p.XAdd(ctx, &redis.XAddArgs{Stream: r.events(), Values: []any{"attempt", ""}})
		p.Expire(ctx, r.begun(), r.keptFor())
		p.Expire(ctx, r.events(), r.keptFor())
		return nil
	})
	if err != nil {
		return err
	}
	if r.epoch != "" && r.epoch != epoch.Val() {
		return fmt.Errorf("batch %s: %w: Redis has lost the batch, which has to be run again", string(r.keys), errFatal)
	}
	r.epoch = epoch.Val()
	if got := tasks.Val(); got != same {
		n, _, _ := strings.Cut(got, " ")
		return fmt.Errorf("batch %s: %w: a batch of this name has %s other tasks, by their types and payloads, and its results "+
			"are kept: give each batch a name of its own, such as one with its date", string(r.keys), errFatal, n)
	}
	return nil
}

// adopt finds the attempts of earlier calls of Run in Redis. For each published result, and for each output that is
// not published, adopt puts a report of success into r.toPush. It puts all other attempts that have begun into
// r.running, so that checkWorker finds their ends.
func (r *run) adopt(ctx context.Context) error {
	all, err := r.rdb.HGetAll(ctx, r.begun()).Result()
	if err != nil {
		return err
	}
	has := map[int]bool{}
	err = r.eachResult(ctx, func(task int, name, _ string) {
		has[task] = true
		r.toPush = append(r.toPush, engine.Attempt{
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
			r.toPush = append(r.toPush, a)
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

// config returns the configuration of the engine.Phase that decides about the batch. The function Options.Configure
// may change this configuration.
func (r *run) config() engine.Config {
	c := engine.Config{Tasks: len(r.tasks), Work: r.Work, Interval: r.Interval, Policy: r.Policy, Experience: r.experience}
	if r.Configure != nil {
		r.Configure(&c)
	}
	c.Machines = r.hosts
	return c
}

// restore sets r.hosts and r.phase from the snapshot saved. If restore returns an error, r.hosts has no machines and
// r.phase is unchanged.
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

// save writes a snapshot to Redis, and removes from the stream the reports that the snapshot includes.
func (r *run) save(ctx context.Context) error {
	phase, _ := r.phase.MarshalBinary() // MarshalBinary never fails
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
			p.Expire(ctx, key, r.keptFor())
		}
		return nil
	})
	if err == nil {
		r.saved = time.Now()
	}
	return err
}

// expire makes Redis delete the keys of the batch after Options.Retention.
func (r *run) expire(ctx context.Context) error {
	_, err := r.rdb.TxPipelined(ctx, func(p redis.Pipeliner) error {
		for _, key := range r.all() {
			p.Expire(ctx, key, r.Retention)
		}
		return nil
	})
	return err
}

// eachResult calls do for each task that has a published result. name is the name of the attempt that won, with the
// batch's epoch in front, such as "k3f9x2aq/17.2". data is the result.
func (r *run) eachResult(ctx context.Context, do func(task int, name, data string)) error {
	results, err := r.rdb.HGetAll(ctx, r.results()).Result()
	for task := range r.tasks {
		if id, data, ok := strings.Cut(results[strconv.Itoa(task)], " "); ok {
			do(task, id, data)
		}
	}
	return err
}
