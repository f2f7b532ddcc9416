package preempt

import (
	"fmt"

	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/internal/snapshot"
)

// snapshotVersion is the first byte of a snapshot.
const snapshotVersion = 2

// MarshalBinary returns what has to survive a restart: the clock, each pool's waits and cool-down and what it waits
// to run, and whose turn is next; 6 to 36 bytes a pool. Shares and usage are told anew by [Preemptor.Observe]. It
// implements [encoding.BinaryMarshaler] and returns no error.
func (p *Preemptor) MarshalBinary() ([]byte, error) {
	b := append(make([]byte, 0, 32+8*len(p.watch)), snapshotVersion)
	b = snapshot.AppendUint(b, uint64(len(p.watch)))
	b = snapshot.AppendClock(b, p.clock)
	for _, turn := range p.plan.turns {
		b = snapshot.AppendInt(b, int64(turn))
	}
	for i := range p.watch {
		w := &p.watch[i]
		b = appendInstant(b, w.starvesMin, int64(w.minSince))
		b = appendInstant(b, w.starvesFair, int64(w.fairSince))
		b = appendInstant(b, w.cooling, int64(w.cool))
		b = snapshot.AppendInt(b, w.waiting.Units)
		b = snapshot.AppendBool(b, w.waiting.OneMachine)
	}
	return snapshot.Seal(b, 0), nil
}

// appendInstant appends an instant of the clock, if there is one.
func appendInstant(b []byte, ok bool, at int64) []byte {
	if b = snapshot.AppendBool(b, ok); ok {
		b = snapshot.AppendInt(b, at)
	}
	return b
}

// UnmarshalBinary takes over a snapshot of a Preemptor for a tree with as many pools in the same order. It keeps its
// own configuration. It returns an error for anything else, and then changes nothing. It implements
// [encoding.BinaryUnmarshaler].
func (p *Preemptor) UnmarshalBinary(data []byte) error {
	r := snapshot.NewReader("fairshare/preempt: Preemptor", snapshotVersion, data)
	if n := r.Uint(); r.OK() && n != uint64(len(p.watch)) {
		r.Fail(fmt.Errorf("has %d pools, want %d", n, len(p.watch)))
	}
	clock := r.Clock()
	turns := [2]int{r.Number(0, len(p.watch)), r.Number(0, len(p.watch))}
	var watches []watch
	if r.OK() {
		watches = append(watches, p.watch...)
	}
	for i := range watches {
		w := &watches[i]
		if w.starvesMin = r.Bool(); w.starvesMin {
			w.minSince = r.Duration()
		}
		if w.starvesFair = r.Bool(); w.starvesFair {
			w.fairSince = r.Duration()
		}
		if w.cooling = r.Bool(); w.cooling {
			w.cool = min(r.Duration(), num.Add(clock.Since, p.config.Cooldown))
		}
		w.waiting = Waiting{Units: r.Int(), OneMachine: r.Bool()}
		r.Check(!w.starvesMin || w.minSince <= clock.Since, "has a wait that begins after its clock")
		r.Check(!w.starvesFair || w.fairSince <= clock.Since, "has a wait that begins after its clock")
	}
	if err := r.Close(); err != nil {
		return err
	}
	p.clock, p.plan.turns, p.watch = clock, turns, watches
	return nil
}
