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

// Rule is the rule by which jobs are sorted. The laxity of a job is the time that it may still wait and meet its
// deadline. The values of the constants will not change.
type Rule uint8

const (
	// NegativeLast sorts jobs by laxity, which is the time that a job may still wait and meet its deadline. The
	// smallest laxity comes first. But jobs with negative laxity, which will miss their deadlines, come after all
	// other jobs. They are also sorted by laxity. This is DynamicShare's rule and the zero value.
	NegativeLast Rule = iota
	// LeastFirst sorts jobs by laxity, the smallest laxity first. So a job with negative laxity comes first, although
	// it will miss its deadline.
	LeastFirst
	// DeadlineFirst sorts jobs by deadline, the earliest deadline first.
	DeadlineFirst
)

var ruleNames = [...]string{NegativeLast: "negative-last", LeastFirst: "least-first", DeadlineFirst: "deadline-first"}

// String returns the name of the rule.
func (r Rule) String() string { return enum.Name(ruleNames[:], r) }

// MarshalText returns the name of the rule. It returns an error if the value has no name.
func (r Rule) MarshalText() ([]byte, error) { return enum.Text(ruleNames[:], r) }

// UnmarshalText sets the rule to the constant whose name is text. It returns an error if no constant has this name.
func (r *Rule) UnmarshalText(text []byte) error { return enum.Parse(ruleNames[:], text, r) }

// Policy says how jobs are sorted. The zero value is the order of the paper. A Policy is safe for concurrent use.
type Policy struct {
	// Rule is the rule by which jobs are sorted. The zero value is NegativeLast.
	Rule Rule
	// Margin prevents jobs from replacing each other too often. It is 0 or more, and 0 means no margin, as in the
	// paper. A waiting job comes before a running job only if its laxity, the time that it may still wait, is smaller
	// by more than Margin. With the rule DeadlineFirst, deadlines are compared in the same way. While time passes,
	// the laxity of a waiting job becomes smaller, and the laxity of a running job stays the same. So without a
	// margin two equal jobs would take turns all the time. With the rule NegativeLast, a waiting job whose laxity is
	// not negative always comes before a running job with negative laxity.
	Margin time.Duration
}

// Validate returns an error for the first field that is out of range. The error contains the name of the field,
// its value and its range.
func (p Policy) Validate() error {
	const place = "laxity: Policy"
	return cmp.Or(check.Valid(p), check.Least(place, "Margin", p.Margin, 0))
}

// MarshalJSON returns a JSON object with the fields that are not zero. Its keys are the names of the fields in
// kebab case, and durations are in seconds. UnmarshalJSON reads this form.
func (p Policy) MarshalJSON() ([]byte, error)     { return wire.JSON(wire.Settings(&p)) }
func (p *Policy) UnmarshalJSON(data []byte) error { return wire.Read(data, p, wire.Struct) }

// key is the key by which a job is sorted. The job with the smaller key comes first.
type key struct {
	late    bool  // with NegativeLast: the laxity is negative
	first   int64 // the laxity; with DeadlineFirst, the time until the deadline
	waiting bool
	second  int64 // the time until the deadline; with DeadlineFirst, the laxity
}

// compare compares two keys field by field: by the field late, then first, then waiting, then second. The value false
// is smaller than true.
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

// falseFirst compares two different truth values; left is the first value. The value false is smaller than true.
func falseFirst(left bool) int {
	if left {
		return 1
	}
	return -1
}

// key returns the key by which the policy sorts a job.
func (p Policy) key(j Job) key { return p.keyOf(j.most(), j.UntilDeadline, j.Running) }

// keyOf returns the key of a job with the given laxity. left is the time until its deadline.
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

// Order appends the indices of jobs to dst, in the order in which the jobs should run, and returns dst. If jobs
// have the same laxity, a running job comes first, then the job with the earlier deadline, then the job with the
// lower index. With the rule DeadlineFirst, jobs with the same deadline are sorted in this way: a running job
// first, then by laxity, then by index. For a job with an unknown projected time, Order uses the largest possible
// laxity, which is UntilDeadline. If the rule has no name, Order uses LeastFirst. A negative margin is replaced by
// 0. Cost: O(n log n) for n jobs; no allocation if dst has the capacity.
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

// Order returns the indices of jobs in the order of DynamicShare [§3.2]: by laxity, the smallest laxity first, but
// jobs with negative laxity last. Order(jobs) is the same as Policy{}.Order(nil, jobs).
func Order(jobs []Job) []int { return Policy{}.Order(nil, jobs) }
