package machines

import (
	"cmp"
	"log/slog"
	"math"
	"slices"

	"github.com/straggler-go/straggler/internal/enum"
	"github.com/straggler-go/straggler/internal/wire"
)

// Standing is what is held of a machine. The names and values are stable.
type Standing uint8

const (
	// Unknown: too little was seen of it to tell. It is the zero value.
	Unknown Standing = iota
	// Normal: nothing speaks against it.
	Normal
	// Spared: it is slow, but MaxShare of its class is slower still, or as slow.
	Spared
	// Slow: its factor against its class is SlowFactor or more.
	Slow
	// Failing: most of what ended there failed, and elsewhere less than a quarter did.
	Failing
)

var standingNames = [...]string{"unknown", "normal", "spared", "slow", "failing"}

// String returns the standing's name.
func (s Standing) String() string { return enum.Name(standingNames[:], s) }

// MarshalText returns the standing's name; an error for a value that does not exist.
func (s Standing) MarshalText() ([]byte, error) { return enum.Text(standingNames[:], s) }

// UnmarshalText reads a name.
func (s *Standing) UnmarshalText(text []byte) error { return enum.Parse(standingNames[:], text, s) }

// Verdict is what is held of a machine and why. It is a plain value without NaN: comparable, one line as text, fields
// in a structured log. The zero value is that of a machine nobody has heard of.
type Verdict struct {
	Standing Standing
	// ClassFactor is how many times slower than its class the machine is, where [Record.Factor] is against all machines,
	// and Threshold the least that is slow. Both are 0 if nothing is known.
	ClassFactor, Threshold float64
	// Attempts is how many attempts' worth of evidence ClassFactor rests on.
	Attempts float64
	// Failed is the share of what ended there that failed.
	Failed float64
}

// Avoid reports whether a waiting task should not start there: the machine is Slow or Failing.
func (v Verdict) Avoid() bool { return v.Standing == Slow || v.Standing == Failing }

func (v *Verdict) wire(c *wire.Codec) {
	c.Word("standing", &v.Standing)
	c.Float("class-factor", &v.ClassFactor)
	c.Float("threshold", &v.Threshold)
	c.Float("attempts", &v.Attempts)
	c.Float("failed", &v.Failed)
}

// String returns the verdict as one line, which UnmarshalText reads; LogValue, for log/slog, and MarshalJSON, which
// UnmarshalJSON reads, have the same fields.
func (v Verdict) String() string                   { return wire.Line(v.wire) }
func (v Verdict) LogValue() slog.Value             { return wire.Log(v.wire) }
func (v Verdict) MarshalJSON() ([]byte, error)     { return wire.JSON(v.wire) }
func (v *Verdict) UnmarshalJSON(data []byte) error { return wire.Read(data, v, (*Verdict).wire) }
func (v *Verdict) UnmarshalText(line []byte) error { return wire.Scan(line, v, (*Verdict).wire) }

// Judge says whether a waiting task should start on a machine, and the numbers behind it. A machine is judged against
// its class. At least half of the machines of a class of which anything is known are never slow, and MaxShare bounds
// how many, equals aside, are; evidence fades, so a machine that gets no task for that reason gets one again after a
// while, and if that is slow as well, one is enough to say so. Where the good machines have left, tell so by
// [Record.Forget]: what is slow is slow against those that the record knows.
func (r *Record) Judge(machine int) Verdict {
	r.settle()
	i, ok := r.places.get(machine)
	if !ok {
		return Verdict{}
	}
	r.refresh(i)
	m := &r.machines[i]
	var v Verdict
	if m.known {
		v = Verdict{Standing: Normal, ClassFactor: m.location / r.centre(m.class), Attempts: m.weight}
		v.Threshold = r.config.SlowFactor
	}
	if m.weight <= r.config.Trust {
		v.Standing = Unknown
	}
	if m.ended > 0 {
		v.Failed = m.failed / m.ended
	}
	switch {
	case r.failing(m):
		v.Standing = Failing
	case v.ClassFactor >= v.Threshold && v.ClassFactor > 0 && r.slower(m) < r.most(m.class):
		v.Standing = Slow
	case v.ClassFactor >= v.Threshold && v.ClassFactor > 0:
		v.Standing = Spared
	}
	return v
}

// failing reports whether most of what ended on a machine failed, while elsewhere little did: what fails everywhere is
// the fault of the job.
func (r *Record) failing(m *machine) bool {
	ended, failed := r.ended.Value()-m.ended, r.failed.Value()-m.failed
	return m.failed > r.config.Trust && m.failed > m.ended/2 && ended > r.config.Trust && failed < ended/4
}

// slower counts the machines of a class that are slower than one of them.
func (r *Record) slower(m *machine) int {
	c := &r.classes[m.class].locations
	return c.Len() - c.Rank(math.Nextafter(m.location, math.Inf(1)))
}

// most returns how many machines of a class may be slow.
func (r *Record) most(class int32) int {
	n := r.classes[class].locations.Len()
	return min(max(1, int(r.config.MaxShare*float64(n))), n/2)
}

// AppendAvoid appends the machines on which no waiting task should start, and no copy, to dst: the slowest first, and
// of equals the lowest number. O(s log m) for s of them, and O(m) if the centre of a class has moved; it allocates
// only to grow dst.
func (r *Record) AppendAvoid(dst []int) []int {
	if r.places.many == nil {
		return dst
	}
	r.settle()
	r.reflag()
	for at := len(r.flagged) - 1; at >= 0; at-- { // it may take the machine off the list
		r.refresh(r.flagged[at])
	}
	slices.SortFunc(r.flagged, func(i, k int32) int { // most are in order from the last time
		a, b := &r.machines[i], &r.machines[k]
		if a.location != b.location {
			return cmp.Compare(b.location, a.location)
		}
		return cmp.Compare(a.number, b.number)
	})
	for at, i := range r.flagged {
		r.machines[i].flag = int32(at)
		// What has no number runs none of this host's.
		if number := r.machines[i].number; number != none && r.Judge(number).Avoid() {
			dst = append(dst, number)
		}
	}
	return dst
}
