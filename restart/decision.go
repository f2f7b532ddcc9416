package restart

import (
	"log/slog"
	"strconv"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/num"
)

// Decision is an action, why it is taken, and the numbers that it rests on. It is a plain value: it can be compared
// with ==, holds no NaN and no pointer, prints as one line and logs as structured fields. The zero value keeps the
// task.
//
// The durations are the very numbers that were compared, to the nanosecond, so a logged decision can be checked by
// hand.
type Decision struct {
	Action Action
	Reason Reason
	// Copy is the index into Task.Copies of the copy to kill, for Restart and Kill; 0 otherwise.
	Copy int
	// Remaining is t_rem of the task, that of its fastest copy, and Fresh is E(t_new); 0 if the rule did not need it,
	// and [estimate.Unknown] if it did and there was none.
	Remaining, Fresh time.Duration
	// Basis is what Remaining rests on, where that is uncertain.
	Basis Basis
	// Bar is what Remaining had to exceed; 0 if the rule compares something else.
	Bar time.Duration
	// Value was held against Threshold: the probability of saving resources against δ, that of an uncertain t_rem to
	// exceed Bar, or what a new copy usually takes, against the confidence that Mantri asks of each, a score against
	// the mean score less its lag, seconds run against seconds, a rate against a rate, a count against a count, a share
	// against a share. Both are 0 if not used.
	Value, Threshold float64
	// Gain ranks tasks, largest first: by the time that the action is expected to save for Mantri, the time left for LATE,
	// the time beyond the threshold for Dryad, Spark and Flink; 0 for the rules to which all such tasks are alike. A
	// copy that a leaving machine makes necessary comes first, with the largest duration there is.
	Gain time.Duration
	// Avoid names the machines on which a new copy should not run: where copies run now and where earlier attempts ran.
	// It never names all the machines that there are, where Phase.Machines says how many.
	Avoid MachineSet
}

// MaxAvoid is the number of machines that a decision can name.
const MaxAvoid = 6

// MachineSet is a small set of machines, by the host's index. It is comparable: equal machines in equal order are
// equal.
type MachineSet struct {
	n  int
	id [MaxAvoid]int
}

// Len returns how many machines there are in the set.
func (m MachineSet) Len() int { return m.n }

// At returns the i-th machine, counted from 0; -1 if there is none.
func (m MachineSet) At(i int) int {
	if i < 0 || i >= m.n {
		return -1
	}
	return m.id[i]
}

// Has reports whether the machine is in the set.
func (m MachineSet) Has(machine int) bool {
	for _, id := range m.id[:m.n] {
		if id == machine {
			return true
		}
	}
	return false
}

// add puts a machine in, unless it is unknown, there already, or the set is full.
func (m *MachineSet) add(machine, limit int) {
	if machine < 0 || m.n >= limit || m.Has(machine) {
		return
	}
	m.id[m.n] = machine
	m.n++
}

// Avoid returns the machines on which a new copy of the task should not run, for the decisions of a policy of your own:
// those of the running copies and then those tried before, but never all that there are, nor more than [MaxAvoid].
// O(copies), no allocation.
func Avoid(t Task, p Phase) (m MachineSet) {
	limit := MaxAvoid
	if p.Machines > 0 {
		limit = min(limit, p.Machines-1)
	}
	for i := range t.Copies {
		m.add(t.Copies[i].Machine, limit)
	}
	for _, machine := range t.Tried {
		m.add(machine, limit)
	}
	return m
}

// MarshalJSON returns the machines as a list of numbers.
func (m MachineSet) MarshalJSON() ([]byte, error) {
	b := []byte{'['}
	for i := range m.Len() {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(m.At(i)), 10)
	}
	return append(b, ']'), nil
}

// MarshalJSON returns the decision as an object of the fields that it prints, durations in seconds, null for unknown.
func (d Decision) MarshalJSON() ([]byte, error) { return d.appendJSON(make([]byte, 0, 200)), nil }

func (d Decision) appendJSON(b []byte) []byte {
	b = append(append(b, `{"action":"`...), d.Action.String()...)
	b = append(append(append(b, `","reason":"`...), d.Reason.String()...), '"')
	if d.Action == Restart || d.Action == Kill {
		b = strconv.AppendInt(append(b, `,"copy":`...), int64(d.Copy), 10)
	}
	if d.Basis != NoBasis {
		b = append(append(append(b, `,"basis":"`...), d.Basis.String()...), '"')
	}
	for _, f := range d.durations() {
		switch f.value {
		case 0:
		case estimate.Unknown:
			b = append(append(append(b, `,"`...), f.key...), `":null`...)
		default:
			b = append(append(append(b, `,"`...), f.key...), `":`...)
			b = strconv.AppendFloat(b, f.value.Seconds(), 'f', -1, 64)
		}
	}
	if num.Finite(d.Value) && num.Finite(d.Threshold) && (d.Value != 0 || d.Threshold != 0) {
		b = strconv.AppendFloat(append(b, `,"value":`...), d.Value, 'g', -1, 64)
		b = strconv.AppendFloat(append(b, `,"threshold":`...), d.Threshold, 'g', -1, 64)
	}
	if d.Avoid.Len() > 0 {
		machines, _ := d.Avoid.MarshalJSON()
		b = append(append(b, `,"avoid":`...), machines...)
	}
	return append(b, '}')
}

// field is a duration under its name.
type field struct {
	key   string
	value time.Duration
}

func (d Decision) durations() [4]field {
	return [...]field{{"remaining", d.Remaining}, {"fresh", d.Fresh}, {"bar", d.Bar}, {"gain", d.Gain}}
}

// String returns the decision as one line: action, reason, and the numbers that were used, durations in seconds.
func (d Decision) String() string {
	return string(d.append(make([]byte, 0, 120)))
}

func (d Decision) append(b []byte) []byte {
	b = append(b, d.Action.String()...)
	b = append(b, ' ')
	b = append(b, d.Reason.String()...)
	if d.Action == Restart || d.Action == Kill {
		b = append(b, " copy="...)
		b = strconv.AppendInt(b, int64(d.Copy), 10)
	}
	if d.Basis != NoBasis {
		b = append(append(b, " basis="...), d.Basis.String()...)
	}
	b = appendDuration(b, " remaining=", d.Remaining)
	b = appendDuration(b, " fresh=", d.Fresh)
	b = appendDuration(b, " bar=", d.Bar)
	if d.Value != 0 || d.Threshold != 0 {
		b = append(b, " value="...)
		b = strconv.AppendFloat(b, d.Value, 'g', 6, 64)
		b = append(b, " threshold="...)
		b = strconv.AppendFloat(b, d.Threshold, 'g', 6, 64)
	}
	b = appendDuration(b, " gain=", d.Gain)
	for i := range d.Avoid.Len() {
		if i == 0 {
			b = append(b, " avoid="...)
		} else {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(d.Avoid.At(i)), 10)
	}
	return b
}

// appendDuration leaves out what was not used.
func appendDuration(b []byte, key string, d time.Duration) []byte {
	switch d {
	case 0:
		return b
	case estimate.Unknown:
		b = append(b, key...)
		return append(b, '?')
	}
	b = append(b, key...)
	b = strconv.AppendFloat(b, d.Seconds(), 'g', 6, 64)
	return append(b, 's')
}

// LogValue returns the decision as a group of fields, for log/slog.
func (d Decision) LogValue() slog.Value {
	attrs := make([]slog.Attr, 0, 10)
	attrs = append(attrs, slog.String("action", d.Action.String()), slog.String("reason", d.Reason.String()))
	if d.Action == Restart || d.Action == Kill {
		attrs = append(attrs, slog.Int("copy", d.Copy))
	}
	if d.Basis != NoBasis {
		attrs = append(attrs, slog.String("basis", d.Basis.String()))
	}
	for _, f := range d.durations() {
		switch f.value {
		case 0:
		case estimate.Unknown:
			attrs = append(attrs, slog.String(f.key, "unknown"))
		default:
			attrs = append(attrs, slog.Duration(f.key, f.value))
		}
	}
	if d.Value != 0 || d.Threshold != 0 {
		attrs = append(attrs, slog.Float64("value", d.Value), slog.Float64("threshold", d.Threshold))
	}
	if n := d.Avoid.Len(); n > 0 {
		machines := make([]int, n)
		for i := range machines {
			machines[i] = d.Avoid.At(i)
		}
		attrs = append(attrs, slog.Any("avoid", machines))
	}
	return slog.GroupValue(attrs...)
}
