package batch

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/straggler-go/straggler/estimate/survival"
	"github.com/straggler-go/straggler/restart/tracker"
)

// remembered is for how long a kind is kept of which there is no batch.
const remembered = 30 * day

func kindKey(kind string) string { return "straggler:{kind:" + kind + "}" }

// learn gives the batch what others of its kind have shown, and itself before it was last saved.
func (r *run) learn(ctx context.Context, own string) error {
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
	r.take(r.experience, r.experienceOf(theKind, kind))
	return nil
}

// teach adds what the batch has shown to what is kept of its kind, beside other batches that do so at once.
func (r *run) teach(ctx context.Context) error {
	if r.experience == nil {
		return nil
	}
	key := kindKey(r.Kind)
	return r.rdb.Watch(ctx, func(tx *redis.Tx) error {
		saved, err := tx.Get(ctx, key).Result()
		if err != nil && !errors.Is(err, redis.Nil) {
			return err
		}
		kind := r.experienceOf(theKind, saved)
		r.take(kind, r.experience)
		data, _ := kind.MarshalBinary() // it never fails
		_, err = tx.TxPipelined(ctx, func(p redis.Pipeliner) error { return p.Set(ctx, key, data, remembered).Err() })
		return err
	}, key)
}

const theKind = "kind" // by this name what is kept of a kind is told from what a batch has seen, which has its epoch

// experienceOf reads an experience. One that can't be read has seen nothing, and learns again.
func (r *run) experienceOf(who, saved string) *tracker.Experience {
	x, _ := tracker.NewExperience(survival.WindowConfig{Keep: remembered, Origin: who}) // it is valid
	if saved == "" {
		return x
	}
	if err := x.UnmarshalBinary([]byte(saved)); err != nil {
		r.Log.Warn("batch: begun anew, without what was kept of the kind", "batch", string(r.keys), "kind", r.Kind,
			"error", err)
	}
	return x
}

// take has one experience take in what another has seen.
func (r *run) take(x, from *tracker.Experience) {
	delta, err := from.AppendDelta(nil, x.AppendVersion(nil))
	if err == nil {
		err = x.Merge(time.Now(), delta)
	}
	if err != nil {
		r.Log.Warn("batch: not learned from others of the kind", "batch", string(r.keys), "kind", r.Kind, "error", err)
	}
}
