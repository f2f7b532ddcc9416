package replicate

import (
	"time"

	"github.com/straggler-go/straggler/internal/snapshot"
)

// Versions of the snapshots, their first byte.
const (
	lossesVersion    = 2
	burstsVersion    = 2
	copyTimesVersion = 2
)

// maxCount bounds the counts of a snapshot, so that no sum of them overflows.
const maxCount = 1 << 56

// MarshalBinary returns the state, with its configuration, as bytes: restored, it answers as if it had never stopped.
// It never fails. O(m), some 40 bytes a machine.
func (l *Losses) MarshalBinary() ([]byte, error) {
	c := l.Config()
	dst := []byte{lossesVersion}
	dst = snapshot.AppendInt(dst, int64(c.Window))
	dst = snapshot.AppendFloat(snapshot.AppendFloat(dst, c.Prior), c.Weight)
	dst = snapshot.AppendClock(dst, l.clock)
	dst = l.cluster.append(dst)
	dst = snapshot.AppendUint(dst, uint64(len(l.machine)))
	for i := range l.machine {
		dst = l.machine[i].append(dst)
	}
	return snapshot.Seal(dst, 0), nil
}

func (r *record) append(dst []byte) []byte {
	dst = snapshot.AppendInt(dst, r.latest)
	for i := range r.outputs {
		dst = snapshot.AppendUint(dst, uint64(r.outputs[i]))
		dst = snapshot.AppendUint(dst, uint64(r.lost[i]))
	}
	return dst
}

// UnmarshalBinary replaces l, its configuration and number of machines included, by what data holds. It is an error,
// and leaves l as it was, if data is not what MarshalBinary returns.
func (l *Losses) UnmarshalBinary(data []byte) error {
	r := snapshot.NewReader("replicate: Losses", lossesVersion, data)
	var got Losses
	got.config = LossesConfig{Window: r.Duration(), Prior: r.Float(), Weight: r.Float()}
	if r.OK() {
		r.Check(got.config == got.config.Effective(), "has a configuration out of range")
		r.Fail(got.config.Validate())
	}
	got.clock = r.Clock()
	var latest int64
	if r.OK() {
		latest = int64(got.clock.Since) / (int64(got.config.Window) / sixteenths)
	}
	got.cluster = readRecord(r, latest)
	got.machine = make([]record, r.Count(33))
	for i := range got.machine {
		got.machine[i] = readRecord(r, latest)
	}
	if err := r.Close(); err != nil {
		return err
	}
	*l = got
	return nil
}

func readRecord(r *snapshot.Reader, latest int64) (got record) {
	got.latest = int64(r.Duration())
	r.Check(got.latest <= latest, "holds outputs out of time")
	for i := range got.outputs {
		outputs, lost := r.Uint(), r.Uint()
		r.Check(outputs < maxCount && lost < maxCount, "counts too many outputs")
		if !r.OK() {
			return record{}
		}
		got.outputs[i], got.lost[i] = int64(outputs), int64(lost)
		got.sumOutputs += got.outputs[i]
		got.sumLost += got.lost[i]
	}
	return got
}

// MarshalBinary returns the state, with its configuration, as bytes: restored, it answers as if it had never stopped.
// It never fails. O(m), some 5 bytes a machine, more in a burst.
func (b *LossBursts) MarshalBinary() ([]byte, error) {
	c := b.Config()
	dst := []byte{burstsVersion}
	dst = snapshot.AppendInt(dst, int64(c.Losses))
	dst = snapshot.AppendInt(dst, int64(c.Window))
	dst = snapshot.AppendFloat(snapshot.AppendFloat(dst, c.Prior), c.Weight)
	dst = snapshot.AppendClock(dst, b.clock)
	dst = snapshot.AppendInt(snapshot.AppendInt(dst, int64(b.wanted)), int64(b.lost))
	dst = snapshot.AppendUint(dst, uint64(len(b.next)))
	for _, i := range b.next {
		dst = snapshot.AppendInt(dst, int64(i))
	}
	for _, at := range b.times {
		dst = snapshot.AppendInt(dst, int64(at))
	}
	return snapshot.Seal(dst, 0), nil
}

// UnmarshalBinary replaces b, its configuration and number of machines included, by what data holds. It is an error,
// and leaves b as it was, if data is not what MarshalBinary returns.
func (b *LossBursts) UnmarshalBinary(data []byte) error {
	r := snapshot.NewReader("replicate: LossBursts", burstsVersion, data)
	var got LossBursts
	got.config = LossBurstsConfig{Losses: r.Number(Off, maxBurstLosses), Window: r.Duration()}
	got.config.Prior, got.config.Weight = r.Float(), r.Float()
	if r.OK() {
		r.Check(got.config.Losses != 0, "has 0 losses")
		r.Check(got.config == got.config.Effective(), "has a configuration out of range")
		r.Fail(got.config.Validate())
	}
	got.clock = r.Clock()
	got.wanted = r.Number(0, keepWanted)
	got.lost = r.Number(0, got.wanted)
	ring := max(got.config.Losses, 0)
	machines := r.Count(1 + ring)
	got.next, got.times = make([]int, machines), make([]time.Duration, machines*ring)
	for i := range got.next {
		got.next[i] = r.Number(0, max(ring-1, 0))
	}
	for i := range got.times {
		got.times[i] = time.Duration(r.Int())
		r.Check(got.times[i] >= never && got.times[i] <= got.clock.Since, "holds a loss out of time")
	}
	if err := r.Close(); err != nil {
		return err
	}
	*b = got
	return nil
}

// MarshalBinary returns the state, with its configuration, as bytes: restored, it answers as if it had never stopped.
// It never fails.
func (c *CopyTimes) MarshalBinary() ([]byte, error) {
	config := c.Config()
	dst := snapshot.AppendFloat([]byte{copyTimesVersion}, config.Bandwidth)
	dst = snapshot.AppendInt(snapshot.AppendInt(dst, int64(config.MinSamples)), int64(config.Keep))
	dst = snapshot.AppendInt(dst, int64(c.samples))
	for _, x := range [...]float64{c.weight, c.bytes, c.seconds, c.bytes2, c.product} {
		dst = snapshot.AppendFloat(dst, x)
	}
	return snapshot.Seal(dst, 0), nil
}

// UnmarshalBinary replaces c, its configuration included, by what data holds. It is an error, and leaves c as it was,
// if data is not what MarshalBinary returns.
func (c *CopyTimes) UnmarshalBinary(data []byte) error {
	r := snapshot.NewReader("replicate: CopyTimes", copyTimesVersion, data)
	var got CopyTimes
	got.config = CopyTimesConfig{Bandwidth: r.Amount(), MinSamples: r.Number(1, 1<<30), Keep: r.Number(1, 1<<30)}
	if r.OK() {
		r.Check(got.config == got.config.Effective(), "has a configuration out of range")
		r.Fail(got.config.Validate())
	}
	got.samples = r.Number(0, got.config.Keep)
	got.weight, got.bytes, got.seconds = r.Amount(), r.Amount(), r.Amount()
	got.bytes2, got.product = r.Amount(), r.Amount()
	r.Check(got.samples == 0 && got.weight == 0 || got.samples > 0 && got.weight >= 1, "has a weight without samples")
	if err := r.Close(); err != nil {
		return err
	}
	*c = got
	return nil
}
