package queue

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/straggler-go/straggler/estimate/machines"
	"github.com/straggler-go/straggler/restart/tracker"
)

// shared is knowledge that coordinators share: the run times of a kind, or the record of machines.
type shared interface {
	AppendVersion([]byte) []byte
	AppendDelta(dst, version []byte, origins ...string) ([]byte, error)
	Merge(time.Time, []byte) error
	MarshalBinary() ([]byte, error)
	UnmarshalBinary([]byte) error
}

// The keys of Knowledge: of the machines, and of each kind.
const (
	machinesKey = "machines"
	kindPrefix  = "kind:"
)

// storedOrigin is the origin of knowledge in the store, which nobody adds observations to.
const storedOrigin = "store"

func newExperience(origin string) *tracker.Experience {
	x, _ := tracker.NewExperience(tracker.ExperienceConfig{Origin: origin}) // the configuration is valid
	return x
}

// emptyLike returns knowledge of the same type without observations.
func emptyLike(x shared) shared {
	if _, ok := x.(*machines.Record); ok {
		r, _ := machines.New(machines.Config{Origin: storedOrigin}) // the configuration is valid
		return r
	}
	return newExperience(storedOrigin)
}

// recall adds the stored observations of a key to x.
func (c *Coordinator) recall(ctx context.Context, now time.Time, key string, x shared) error {
	data, _, err := c.store.Get(ctx, key)
	if err != nil || data == nil {
		return err
	}
	c.merge(now, key, x, c.read(key, x, data))
	return nil
}

// learn stores the observations that the store may not have: at once, or when some time has passed.
func (c *Coordinator) learn(ctx context.Context, now time.Time, atOnce bool) error {
	since := now.Sub(c.learned)
	if len(c.untold) == 0 || !atOnce && since >= 0 && since < learnEvery {
		return nil
	}
	c.learned = now
	var errs []error
	for _, key := range slices.Sorted(maps.Keys(c.untold)) {
		x := shared(c.record)
		if kind, ok := strings.CutPrefix(key, kindPrefix); ok {
			x = c.kinds[kind]
		}
		err := c.teach(ctx, now, key, x)
		switch {
		case err == nil:
			delete(c.untold, key)
		case !errors.Is(err, ErrConflict): // after a conflict it is stored next time
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// teach adds the observations of x to the stored observations of a key. If another process has done so meanwhile, the
// error is ErrConflict.
func (c *Coordinator) teach(ctx context.Context, now time.Time, key string, x shared) error {
	data, version, err := c.store.Get(ctx, key)
	if err != nil {
		return err
	}
	stored := c.read(key, x, data)
	c.merge(now, key, stored, x)
	data, _ = stored.MarshalBinary() // never fails
	return c.store.Put(ctx, key, data, version)
}

// read returns stored knowledge. If it can't be read, the result has no observations.
func (c *Coordinator) read(key string, like shared, data []byte) shared {
	stored := emptyLike(like)
	if data == nil {
		return stored
	}
	if err := stored.UnmarshalBinary(data); err != nil {
		c.o.Log.Warn("queue: stored knowledge can't be read, and begins anew", "key", key, "error", err)
		return emptyLike(like)
	}
	return stored
}

// merge adds to dst the observations that src has and dst lacks.
func (c *Coordinator) merge(now time.Time, key string, dst, src shared) {
	delta, err := src.AppendDelta(nil, dst.AppendVersion(nil))
	if err == nil {
		err = dst.Merge(now, delta)
	}
	if err != nil {
		c.o.Log.Warn("queue: knowledge can't be merged", "key", key, "error", err)
	}
}
