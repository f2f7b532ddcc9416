package laxity

import (
	"cmp"
	"slices"
	"time"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/enum"
	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/internal/wire"
)

// Rule says by what jobs are ordered. The values are stable.
type Rule uint8

const (
	// NegativeLast is DynamicShare's rule and the zero value: least laxity first, and every job whose laxity is negative
	// after every job whose laxity is not. Among themselves, those with negative laxity go by least laxity too.
	NegativeLast Rule = iota
	// LeastFirst is plain least laxity first: the job that is furthest behind comes first, even if it is lost.
	LeastFirst
	// DeadlineFirst is earliest deadline first.
	DeadlineFirst
)

var ruleNames = [...]string{"negative-last", "least-first", "deadline-first"}

// String returns the rule's name.
func (r Rule) String() string { return enum.Name(ruleNames[:], r) }

// MarshalText returns the rule's name, or an error for a value that does not exist.
func (r Rule) MarshalText() ([]byte, error) { return enum.Text(ruleNames[:], r) }

// UnmarshalText takes a rule's name.
func (r *Rule) UnmarshalText(text []byte) error { return enum.Parse(ruleNames[:], text, r) }

// Policy holds an operator's choices about the order. Its zero value is the paper's. Safe for concurrent use.
type Policy struct {
	Rule Rule
	// Margin limits switching: a job that runs gives way only to one whose laxity (or deadline, under DeadlineFirst) is
	// less by more than Margin. Time takes from the laxity of the jobs that wait, not of the one that runs, so without
	// a margin two equal jobs would change places all the time. It does not protect a running job whose laxity is
	// negative from one whose laxity is not, under NegativeLast. The paper has none, 0.
	Margin time.Duration
}

// Validate reports the field that is out of range, if any.
func (p Policy) Validate() error {
	const place = "laxity: Policy"
	return cmp.Or(check.Named(place, "Rule", p.Rule, ruleNames[:]), check.Least(place, "Margin", p.Margin, 0))
}

// MarshalJSON returns the fields that are not zero, kebab-case, in seconds, Off as -1; UnmarshalJSON reads it.
func (p Policy) MarshalJSON() ([]byte, error)     { return wire.JSON(wire.Settings(&p)) }
func (p *Policy) UnmarshalJSON(data []byte) error { return wire.Read(data, p, wire.Struct) }

// key is a job's place in the order: smaller is earlier.
type key struct {
	late    bool
	first   int64
	waiting bool
	second  int64
}

func (k key) compare(o key) int {
	if k.late != o.late {
		return falseFirst(k.late)
	}
	if c := cmp.Compare(k.first, o.first); c != 0 {
		return c
	}
	if k.waiting != o.waiting {
		return falseFirst(k.waiting)
	}
	return cmp.Compare(k.second, o.second)
}

// falseFirst compares two unlike truth values, given the left one.
func falseFirst(left bool) int {
	if left {
		return 1
	}
	return -1
}

func (p Policy) key(j Job) key { return p.place(j.most(), j.TimeLeft, j.Running) }

func (p Policy) place(laxity, left time.Duration, running bool) key {
	k := key{late: p.Rule == NegativeLast && laxity < 0, waiting: !running}
	if p.Rule == DeadlineFirst {
		k.first, k.second = int64(left), int64(laxity)
	} else {
		k.first, k.second = int64(laxity), int64(left)
	}
	if running {
		k.first = int64(num.Sub(time.Duration(k.first), max(p.Margin, 0)))
	}
	return k
}

// Order appends the indices of jobs to dst, the job that should run first before all others. Equal laxities go to the
// job that runs, then to the earlier deadline (equal deadlines to the lesser laxity), then to the lower index. A job
// whose need is unknown counts with the most that its laxity can be, its time left. O(n log n), no allocation if dst
// has the capacity. An invalid rule counts as LeastFirst, a negative margin as none.
func (p Policy) Order(dst []int, jobs []Job) []int {
	n := len(dst)
	for i := range jobs {
		dst = append(dst, i)
	}
	slices.SortFunc(dst[n:], func(a, b int) int {
		if c := p.key(jobs[a]).compare(p.key(jobs[b])); c != 0 {
			return c
		}
		return cmp.Compare(a, b)
	})
	return dst
}

// Order returns the indices of jobs in DynamicShare's order [§3.2]: the least laxity first, negative ones last. It is
// short for Policy{}.Order(nil, jobs).
func Order(jobs []Job) []int { return Policy{}.Order(nil, jobs) }
