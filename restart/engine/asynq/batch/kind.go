package batch

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/straggler-go/straggler/estimate/survival"
	"github.com/straggler-go/straggler/restart/tracker"
)

// kindKeptFor is how long the experience of a kind is kept after its last batch.
const kindKeptFor = 30 * day

func kindKey(kind string) string { return "straggler:{kind:" + kind + "}" }

// loadExperience restores the batch's own experience from its snapshot. A new batch gets the experience of its kind.
func (r *run) loadExperience(ctx context.Context, own string) error {
	r.experience = nil
	if r.Kind == "" {
		return nil
	}
	if r.experience = r.experienceOf(r.epoch, own); own != "" {
		return nil
	}
	kind, err := r.rdb.Get(ctx, kindKey(r.Kind)).Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		return err
	}
	r.merge(r.experience, r.experienceOf(kindOrigin, kind))
	return nil
}

// saveExperience merges the batch's experience into the kind's experience. Other batches may do this at the same time.
func (r *run) saveExperience(ctx context.Context) error {
	if r.experience == nil {
		return nil
	}
	key := kindKey(r.Kind)
	return r.rdb.Watch(ctx, func(tx *redis.Tx) error {
		saved, err := tx.Get(ctx, key).Result()
		if err != nil && !errors.Is(err, redis.Nil) {
			return err
		}
		kind := r.experienceOf(kindOrigin, saved)
		r.merge(kind, r.experience)
		data, _ := kind.MarshalBinary() // it never fails
		_, err = tx.TxPipelined(ctx, func(p redis.Pipeliner) error { return p.Set(ctx, key, data, kindKeptFor).Err() })
		return err
	}, key)
}

// kindOrigin is the origin of a kind's experience. The origin of a batch's experience is its epoch.
const kindOrigin = "kind"

// experienceOf reads an experience. If it can't be read, experienceOf logs that, and returns an empty experience.
func (r *run) experienceOf(who, saved string) *tracker.Experience {
	x, _ := tracker.NewExperience(survival.WindowConfig{Keep: kindKeptFor, Origin: who}) // it is valid
	if saved == "" {
		return x
	}
	if err := x.UnmarshalBinary([]byte(saved)); err != nil {
		r.Log.Warn("batch: the kind's experience can't be read, and begins anew", "batch", string(r.keys), "kind", r.Kind,
			"error", err)
	}
	return x
}

// merge merges the experience from into the experience x.
func (r *run) merge(x, from *tracker.Experience) {
	delta, err := from.AppendDelta(nil, x.AppendVersion(nil))
	if err == nil {
		err = x.Merge(time.Now(), delta)
	}
	if err != nil {
		r.Log.Warn("batch: experience of the kind can't be merged", "batch", string(r.keys), "kind", r.Kind, "error", err)
	}
}
