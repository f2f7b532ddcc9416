package machines

import (
	"cmp"
	"log/slog"
	"math"
	"slices"

	"github.com/straggler-go/straggler/internal/enum"
	"github.com/straggler-go/straggler/internal/wire"
)

// Standing is the judgement of a machine. The numbers and the names of the constants will not change.
type Standing uint8

const (
	// Unknown means that there is too little evidence about the machine. Unknown is the zero value.
	Unknown Standing = iota
	// Normal means that there is evidence, and that the machine is neither slow nor failing.
	Normal
	// Spared means that the machine is slow, but is not avoided, because as many machines of its class as MaxShare
	// allows are even slower.
	Spared
	// Slow means that tasks take at least SlowFactor times as long on the machine as on the median machine of its
	// class.
	Slow
	// Failing means that most attempts that ended on the machine failed, while less than a quarter of the attempts
	// on other machines failed.
	Failing
)

var standingNames = [...]string{
	Unknown: "unknown", Normal: "normal", Spared: "spared", Slow: "slow", Failing: "failing",
}

// String returns the standing's name.
func (s Standing) String() string { return enum.Name(standingNames[:], s) }

// MarshalText returns the standing's name, or an error for a value without a name.
func (s Standing) MarshalText() ([]byte, error) { return enum.Text(standingNames[:], s) }

// UnmarshalText sets the standing to the standing with the given name, or returns an error for an unknown name.
func (s *Standing) UnmarshalText(text []byte) error { return enum.Parse(standingNames[:], text, s) }

// Verdict is the judgement of a machine with its reasons. A Verdict contains no NaN, can be compared with ==,
// prints as one line, and has fields for a structured log. The zero value is the verdict of a machine without
// evidence.
type Verdict struct {
	Standing Standing
	// ClassFactor is how many times longer tasks take on the machine than on the median machine of its class.
	// ([Record.Factor] compares the machine with all machines.) Threshold is the smallest ClassFactor of a slow
	// machine. If there is no evidence, both are 0.
	ClassFactor, Threshold float64
	// Attempts is the sum of the weights of the attempts behind ClassFactor. A new attempt has the weight 1, and
	// the weight falls with age.
	Attempts float64
	// Failed is the number of failed attempts on the machine, divided by the number of all ended attempts on the
	// machine. Each attempt is included with its weight, which falls with age.
	Failed float64
}

// Avoid reports whether no waiting task should start on the machine, because the machine is Slow or Failing.
func (v Verdict) Avoid() bool { return v.Standing == Slow || v.Standing == Failing }

func (v *Verdict) wire(c *wire.Codec) {
	c.Word("standing", &v.Standing)
	c.Float("class-factor", &v.ClassFactor)
	c.Float("threshold", &v.Threshold)
	c.Float("attempts", &v.Attempts)
	c.Float("failed", &v.Failed)
}

// String returns the verdict as one line. LogValue returns the same fields for
// log/slog. MarshalJSON returns the same fields as JSON.
func (v Verdict) String() string               { return wire.Line(v.wire) }
func (v Verdict) LogValue() slog.Value         { return wire.Log(v.wire) }
func (v Verdict) MarshalJSON() ([]byte, error) { return wire.JSON(v.wire) }

// Judge returns whether a waiting task should start on a machine, with the numbers behind the verdict. Judge
// compares a machine with the other machines of its class:
//
//   - At most half of the machines of a class that have evidence can be slow.
//   - MaxShare limits the number of slow machines in a class. If several machines at the limit have equal factors,
//     all of them are slow.
//   - Evidence loses its weight with age. So a slow machine, which gets no tasks, gets a task again after a while.
//     If this task is slow as well, the single task is enough to call the machine slow again.
//   - Judge compares a machine with all machines in the record, even if they no longer exist. If the good machines
//     have left, report this by [Record.Forget].
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

// failing reports whether most attempts that ended on the machine failed, while few failed on other machines. If
// attempts fail on all machines, the job is the cause and not the machine.
func (r *Record) failing(m *machine) bool {
	ended, failed := r.ended.Value()-m.ended, r.failed.Value()-m.failed
	return m.failed > r.config.Trust && m.failed > m.ended/2 && ended > r.config.Trust && failed < ended/4
}

// slower returns the number of machines in the class of m that are slower than m.
func (r *Record) slower(m *machine) int {
	c := &r.classes[m.class].locations
	return c.Len() - c.Rank(math.Nextafter(m.location, math.Inf(1)))
}

// maxSlow returns how many machines of a class may be called slow at the same time.
func (r *Record) maxSlow(class int32) int {
	n := r.classes[class].locations.Len()
	return min(max(1, int(r.config.MaxShare*float64(n))), n/2)
}

// AppendAvoid appends to dst the machines on which no waiting task and no copy should start. The slowest machine is
// first. If machines are equally slow, the machine with the lowest number is first. AppendAvoid takes O(s log m)
// for s appended machines of m, and O(m) if the median of a class has moved. It allocates only to make dst longer.
func (r *Record) AppendAvoid(dst []int) []int {
	if r.places == nil {
		return dst
	}
	r.settle()
	r.reflag()
	// The loop runs backwards because refresh may remove a machine from the list.
	for at := len(r.flagged) - 1; at >= 0; at-- {
		r.refresh(r.flagged[at])
	}
	slices.SortFunc(r.flagged, func(i, k int32) int { // most machines are still in order from the last call
		a, b := &r.machines[i], &r.machines[k]
		if a.location != b.location {
			return cmp.Compare(b.location, a.location)
		}
		return cmp.Compare(a.number, b.number)
	})
	for at, i := range r.flagged {
		r.machines[i].flag = int32(at)
		// A machine without a number is known only from other processes. No task of this host runs there.
		if number := r.machines[i].number; number != none && r.Judge(number).Avoid() {
			dst = append(dst, number)
		}
	}
	return dst
}
