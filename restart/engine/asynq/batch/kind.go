package batch

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/straggler-go/straggler/estimate/survival"
	"github.com/straggler-go/straggler/restart/tracker"
)

// kindKeptFor is how long Redis keeps the experience of a kind, such as run times, after the last batch of this kind.
const kindKeptFor = 30 * day

func kindKey(kind string) string { return "straggler:{kind:" + kind + "}" }

// loadExperience sets r.experience: the run times and trials of earlier batches. own is the experience in the batch's
// snapshot, or "" for a new batch. A new batch gets the experience of its kind.
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

// saveExperience merges the batch's experience into the experience of its kind in Redis. Other batches may do this at
// the same time. If another batch has written the key meanwhile, the transaction fails, and Run tries again.
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
		data, _ := kind.MarshalBinary() // MarshalBinary never fails here
		_, err = tx.TxPipelined(ctx, func(p redis.Pipeliner) error { return p.Set(ctx, key, data, kindKeptFor).Err() })
		return err
	}, key)
}

// kindOrigin is the Origin (see survival.WindowConfig) of the experience that batches of one kind share. The Origin
// says who has added observations to an experience. The experience of a single batch has the batch's epoch as its
// Origin.
const kindOrigin = "kind"

// experienceOf decodes an experience, the run times of earlier batches, from its saved bytes. who becomes the Origin
// of the experience (see survival.WindowConfig). If saved is "", or can't be decoded, experienceOf returns an empty
// experience. If saved can't be decoded, experienceOf logs a warning, too.
func (r *run) experienceOf(who, saved string) *tracker.Experience {
	x, _ := tracker.NewExperience(survival.WindowConfig{Keep: kindKeptFor, Origin: who}) // this configuration is valid
	if saved == "" {
		return x
	}
	if err := x.UnmarshalBinary([]byte(saved)); err != nil {
		r.Log.Warn("batch: the kind's experience can't be read, and begins anew", "batch", string(r.keys), "kind", r.Kind,
			"error", err)
	}
	return x
}

// merge adds to the experience dst all observations that the experience src contains and dst does not.
func (r *run) merge(dst, src *tracker.Experience) {
	delta, err := src.AppendDelta(nil, dst.AppendVersion(nil))
	if err == nil {
		err = dst.Merge(time.Now(), delta)
	}
	if err != nil {
		r.Log.Warn("batch: experience of the kind can't be merged", "batch", string(r.keys), "kind", r.Kind, "error", err)
	}
}
