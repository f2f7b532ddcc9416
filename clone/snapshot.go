package clone

import (
	"math"

	"github.com/straggler-go/straggler/internal/snapshot"
)

// Versions of the snapshots, their first byte.
const (
	estimatorVersion = 2
	blacklistVersion = 2
)

// maxCount bounds the counts of a snapshot, so that no sum of them overflows.
const maxCount = math.MaxInt32 / 2

func (p *period) append(dst []byte) []byte {
	return snapshot.AppendInt(snapshot.AppendClock(dst, p.clock), int64(p.start))
}

func readPeriod(r *snapshot.Reader) (p period) {
	p.clock, p.start = r.Clock(), r.Duration()
	r.Check(p.start <= p.clock.Since, "begins its period out of time")
	return p
}

// MarshalBinary returns the state, with its configuration, as bytes: restored, it answers as if it had never stopped.
// It never fails.
func (e *Estimator) MarshalBinary() ([]byte, error) {
	c := e.Config()
	dst := snapshot.AppendInt([]byte{estimatorVersion}, int64(c.Period))
	dst = snapshot.AppendInt(snapshot.AppendFloat(dst, c.Slow), int64(c.MinTasks))
	dst = e.period.append(dst)
	dst = snapshot.AppendInt(snapshot.AppendInt(dst, int64(e.tasks)), int64(e.slow))
	dst = snapshot.AppendFloat(snapshot.AppendBool(dst, e.known), e.p)
	return snapshot.Seal(dst, 0), nil
}

// UnmarshalBinary replaces e, its configuration included, by what data holds. It is an error, and leaves e as it was,
// if data is not what MarshalBinary returns.
func (e *Estimator) UnmarshalBinary(data []byte) error {
	r := snapshot.NewReader("clone: Estimator", estimatorVersion, data)
	var got Estimator
	got.config = EstimatorConfig{Period: r.Duration(), Slow: r.Share(), MinTasks: r.Number(1, math.MaxInt)}
	r.Check(got.config.Period > 0 && got.config.Slow > 0, "has no period, or no share")
	got.period = readPeriod(r)
	got.tasks = r.Number(0, math.MaxInt/2)
	got.slow = r.Number(0, got.tasks)
	got.known, got.p = r.Bool(), r.Share()
	if err := r.Close(); err != nil {
		return err
	}
	*e = got
	return nil
}

// MarshalBinary returns the state, with its configuration, as bytes: restored, it answers as if it had never stopped.
// It never fails. O(m) with m machines, 3 to 15 bytes each.
func (b *Blacklist) MarshalBinary() ([]byte, error) {
	c := b.Config()
	dst := snapshot.AppendInt([]byte{blacklistVersion}, int64(c.Window))
	for _, x := range [...]float64{c.Recent, c.Threshold, c.MaxShare} {
		dst = snapshot.AppendFloat(dst, x)
	}
	dst = b.period.append(snapshot.AppendInt(dst, int64(c.MinTasks)))
	dst = snapshot.AppendUint(dst, uint64(len(b.machine)))
	for i := range b.machine {
		m := &b.machine[i]
		dst = snapshot.AppendInt(snapshot.AppendInt(dst, int64(m.tasks)), int64(m.slow))
		if dst = snapshot.AppendBool(dst, m.seen); m.seen {
			dst = snapshot.AppendBool(snapshot.AppendFloat(dst, m.predicted), m.banned)
		}
	}
	return snapshot.Seal(dst, 0), nil
}

// UnmarshalBinary replaces b, its configuration and number of machines included, by what data holds. It is an error,
// and leaves b as it was, if data is not what MarshalBinary returns.
func (b *Blacklist) UnmarshalBinary(data []byte) error {
	r := snapshot.NewReader("clone: Blacklist", blacklistVersion, data)
	var got Blacklist
	got.config = BlacklistConfig{Window: r.Duration(), Recent: r.Share(), Threshold: r.Share(), MaxShare: r.Share()}
	got.config.MinTasks = r.Number(1, math.MaxInt)
	if c := got.config; c != c.withDefaults() || c.Threshold == 1 {
		r.Check(false, "has a configuration out of range")
	}
	got.period = readPeriod(r)
	got.machine = make([]health, r.Count(3))
	for i := range got.machine {
		m := &got.machine[i]
		m.tasks = r.Number(0, maxCount)
		m.slow = r.Number(0, m.tasks)
		if m.seen = r.Bool(); m.seen {
			m.predicted, m.banned = r.Share(), r.Bool()
		}
	}
	if err := r.Close(); err != nil {
		return err
	}
	got.worst = make([]int32, 0, len(got.machine))
	*b = got
	return nil
}
