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

// Rule says how jobs are ordered. The values are stable.
type Rule uint8

const (
	// NegativeLast is DynamicShare's rule and the zero value: least laxity first, but jobs with negative laxity after all
	// other jobs. Among themselves, jobs with negative laxity are also ordered by least laxity.
	NegativeLast Rule = iota
	// LeastFirst is plain least laxity first: the job with the least laxity comes first, even if it will miss its deadline.
	LeastFirst
	// DeadlineFirst is earliest deadline first.
	DeadlineFirst
)

var ruleNames = [...]string{"negative-last", "least-first", "deadline-first"}

// String returns the rule's name.
func (r Rule) String() string { return enum.Name(ruleNames[:], r) }

// MarshalText returns the rule's name, or an error for a value that does not exist.
func (r Rule) MarshalText() ([]byte, error) { return enum.Text(ruleNames[:], r) }

// UnmarshalText reads a rule's name, and returns an error for any other text.
func (r *Rule) UnmarshalText(text []byte) error { return enum.Parse(ruleNames[:], text, r) }

// Policy says how jobs are ordered. Its zero value is the paper's order. Safe for concurrent use.
type Policy struct {
	// Rule is the rule of the order. The zero value is NegativeLast.
	Rule Rule
	// Margin limits switching between jobs, 0 or more. A running job gives way only to a job with a laxity that is
	// smaller by more than Margin. Under DeadlineFirst, the deadline counts instead of the laxity. While time passes,
	// the laxity of a waiting job falls, and the laxity of a running job does not. So without a margin two equal jobs
	// would take turns all the time. Under NegativeLast, the margin does not protect a running job with negative
	// laxity from a job without negative laxity. 0 means no margin, as in the paper.
	Margin time.Duration
}

// Validate returns an error for the first field that is out of range. The error names the field, its value and its range.
func (p Policy) Validate() error {
	const place = "laxity: Policy"
	return cmp.Or(check.Named(place, "Rule", p.Rule, ruleNames[:]), check.Least(place, "Margin", p.Margin, 0))
}

// MarshalJSON writes the fields that are not zero: names in kebab-case, durations in seconds. UnmarshalJSON reads this
// format.
func (p Policy) MarshalJSON() ([]byte, error)     { return wire.JSON(wire.Settings(&p)) }
func (p *Policy) UnmarshalJSON(data []byte) error { return wire.Read(data, p, wire.Struct) }

// key is the position of a job in the order. A smaller key comes earlier.
type key struct {
	late    bool
	first   int64
	waiting bool
	second  int64
}

// compare orders keys by late, first, waiting and second, in this order. False comes before true.
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

// falseFirst compares two different truth values, given the left value.
func falseFirst(left bool) int {
	if left {
		return 1
	}
	return -1
}

// key returns the key of a job under the policy.
func (p Policy) key(j Job) key { return p.keyOf(j.most(), j.UntilDeadline, j.Running) }

// keyOf returns the key of a job with the given laxity and time until its deadline.
func (p Policy) keyOf(laxity, left time.Duration, running bool) key {
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

// Order appends the indices of jobs to dst, in the order in which the jobs should run. In a tie of laxities, the running
// job comes first, then the earlier deadline, then the lower index. Under DeadlineFirst, a tie of deadlines goes to the
// running job, then to the smaller laxity, then to the lower index. A job with an unknown projected time counts with the
// largest possible laxity, its UntilDeadline. O(n log n), no allocation if dst has the capacity. An invalid rule counts as
// LeastFirst, and a negative margin as 0.
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

// Order returns the indices of jobs in DynamicShare's order [§3.2]: least laxity first, but negative laxities last.
// Order(jobs) is short for Policy{}.Order(nil, jobs).
func Order(jobs []Job) []int { return Policy{}.Order(nil, jobs) }
