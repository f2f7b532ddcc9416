package machines

import (
	"cmp"
	"log/slog"
	"math"
	"slices"

	"github.com/straggler-go/straggler/internal/enum"
	"github.com/straggler-go/straggler/internal/wire"
)

// Standing is the judgement of a machine. The names and values are stable.
type Standing uint8

const (
	// Unknown means that there is too little evidence. Unknown is the zero value.
	Unknown Standing = iota
	// Normal means that no evidence speaks against the machine.
	Normal
	// Spared means that the machine is slow, but MaxShare of its class is even slower.
	Spared
	// Slow means that the machine's factor against its class is SlowFactor or more.
	Slow
	// Failing means that most attempts that ended on the machine failed, while less than a quarter failed
	// elsewhere.
	Failing
)

var standingNames = [...]string{"unknown", "normal", "spared", "slow", "failing"}

// String returns the standing's name.
func (s Standing) String() string { return enum.Name(standingNames[:], s) }

// MarshalText returns the standing's name, or an error for a value without a name.
func (s Standing) MarshalText() ([]byte, error) { return enum.Text(standingNames[:], s) }

// UnmarshalText sets the standing by its name.
func (s *Standing) UnmarshalText(text []byte) error { return enum.Parse(standingNames[:], text, s) }

// Verdict is the judgement of a machine with its reasons. A Verdict is a plain value without NaN: it is comparable,
// prints as one line, and has fields for a structured log. The zero value is the verdict of a machine without
// evidence.
type Verdict struct {
	Standing Standing
	// ClassFactor is how many times slower than its class the machine is; [Record.Factor] compares it with all
	// machines. Threshold is the smallest ClassFactor of a slow machine. Both are 0 without evidence.
	ClassFactor, Threshold float64
	// Attempts is the weight of the evidence behind ClassFactor, in attempts.
	Attempts float64
	// Failed is the number of failed attempts on the machine divided by the number of ended attempts, both faded
	// with age.
	Failed float64
}

// Avoid reports whether a waiting task should not start on the machine, because the machine is Slow or Failing.
func (v Verdict) Avoid() bool { return v.Standing == Slow || v.Standing == Failing }

func (v *Verdict) wire(c *wire.Codec) {
	c.Word("standing", &v.Standing)
	c.Float("class-factor", &v.ClassFactor)
	c.Float("threshold", &v.Threshold)
	c.Float("attempts", &v.Attempts)
	c.Float("failed", &v.Failed)
}

// String returns the verdict as one line. LogValue, for log/slog, and MarshalJSON have the same fields.
func (v Verdict) String() string               { return wire.Line(v.wire) }
func (v Verdict) LogValue() slog.Value         { return wire.Log(v.wire) }
func (v Verdict) MarshalJSON() ([]byte, error) { return wire.JSON(v.wire) }

// Judge returns whether a waiting task should start on a machine, with the numbers behind the verdict. Judge
// compares a machine with its class:
//
//   - At least half of the machines with evidence in a class are never slow.
//   - MaxShare bounds the number of slow machines, except for machines with equal factors.
//   - Evidence fades. So a slow machine, which gets no tasks, gets a task again after a while. If this task is slow
//     as well, the single task is enough to call the machine slow again.
//   - A machine is slow only against machines that the record knows. If the good machines have left, report this by
//     [Record.Forget].
func (r *Record) Judge(machine int) Verdict {
	r.settle()
	i, ok := r.places[machine]
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
	case v.ClassFactor >= v.Threshold && v.ClassFactor > 0 && r.slower(m) < r.maxSlow(m.class):
		v.Standing = Slow
	case v.ClassFactor >= v.Threshold && v.ClassFactor > 0:
		v.Standing = Spared
	}
	return v
}

// failing reports whether most attempts that ended on a machine failed, while few failed elsewhere. If attempts
// fail on all machines, the job is the cause.
func (r *Record) failing(m *machine) bool {
	ended, failed := r.ended.Value()-m.ended, r.failed.Value()-m.failed
	return m.failed > r.config.Trust && m.failed > m.ended/2 && ended > r.config.Trust && failed < ended/4
}

// slower returns the number of machines in the class that are slower than m.
func (r *Record) slower(m *machine) int {
	c := &r.classes[m.class].locations
	return c.Len() - c.Rank(math.Nextafter(m.location, math.Inf(1)))
}

// maxSlow returns how many machines of a class may be slow.
func (r *Record) maxSlow(class int32) int {
	n := r.classes[class].locations.Len()
	return min(max(1, int(r.config.MaxShare*float64(n))), n/2)
}

// AppendAvoid appends the machines on which no waiting task and no copy should start to dst. The slowest machine is
// first; if machines are equally slow, the lowest number is first. O(s log m) for s machines appended, and O(m) if the
// centre of a class has moved; AppendAvoid allocates only to grow dst.
func (r *Record) AppendAvoid(dst []int) []int {
	if r.places == nil {
		return dst
	}
	r.settle()
	r.reflag()
	for at := len(r.flagged) - 1; at >= 0; at-- { // refresh may remove the machine from the list
		r.refresh(r.flagged[at])
	}
	slices.SortFunc(r.flagged, func(i, k int32) int { // most are still in order from the last call
		a, b := &r.machines[i], &r.machines[k]
		if a.location != b.location {
			return cmp.Compare(b.location, a.location)
		}
		return cmp.Compare(a.number, b.number)
	})
	for at, i := range r.flagged {
		r.machines[i].flag = int32(at)
		// No task of this host runs on a machine without a number.
		if number := r.machines[i].number; number != none && r.Judge(number).Avoid() {
			dst = append(dst, number)
		}
	}
	return dst
}
