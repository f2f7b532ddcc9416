package queue

import (
	"context"
	"errors"
	"time"

	"github.com/straggler-go/straggler/estimate/machines"
	"github.com/straggler-go/straggler/estimate/survival"
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

// machinesKey and kindKey are the keys of Knowledge.
const machinesKey = "machines"

func kindKey(kind string) string { return "kind:" + kind }

// storedOrigin is the origin of knowledge in the store, which nobody adds observations to.
const storedOrigin = "store"

func newExperience(origin string) *tracker.Experience {
	x, _ := tracker.NewExperience(survival.WindowConfig{Origin: origin}) // the configuration is valid
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

// learn adds the observations of groups that have ended to the store.
func (c *Coordinator) learn(ctx context.Context, now time.Time, over []*group) error {
	errs := []error{c.teach(ctx, now, machinesKey, c.record)}
	taught := map[string]bool{}
	for _, g := range over {
		if !taught[g.kind] {
			taught[g.kind] = true
			errs = append(errs, c.teach(ctx, now, kindKey(g.kind), c.kinds[g.kind]))
		}
	}
	return errors.Join(errs...)
}

// teach adds the observations of x to the stored observations of a key. If another process has done so meanwhile, x is
// added next time.
func (c *Coordinator) teach(ctx context.Context, now time.Time, key string, x shared) error {
	data, version, err := c.store.Get(ctx, key)
	if err != nil {
		return err
	}
	stored := c.read(key, x, data)
	c.merge(now, key, stored, x)
	data, _ = stored.MarshalBinary() // never fails
	if err = c.store.Put(ctx, key, data, version); errors.Is(err, ErrConflict) {
		err = nil
	}
	return err
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
