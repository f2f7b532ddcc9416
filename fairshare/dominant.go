package fairshare

import (
	"fmt"
	"log/slog"
	"strconv"
)

// User is one claimant of several resources at once, whose tasks all need the same.
//
// Safe for concurrent use.
type User struct {
	Weight int64   // 0 means 1; more than 0 otherwise
	Task   []int64 // what one task needs of each resource
	Demand int64   // tasks running and waiting together
}

// Allocation is what a user gets of several resources. It is comparable.
//
// Safe for concurrent use.
type Allocation struct {
	Tasks    int64
	Resource int     // the dominant one, of which a task needs the largest part of what there is; -1 if it needs none
	Share    float64 // of the dominant resource
	Blocked  int     // the resource of which no further task would fit; -1 if the user has all it wants
}

// String returns the allocation as one line.
func (a Allocation) String() string {
	b := strconv.AppendInt(make([]byte, 0, 80), a.Tasks, 10)
	if a.Resource < 0 {
		return string(append(b, " tasks, which need nothing"...))
	}
	b = append(b, " tasks, "...)
	b = strconv.AppendFloat(b, 100*a.Share, 'g', 4, 64)
	b = append(b, "% of resource "...)
	b = strconv.AppendInt(b, int64(a.Resource), 10)
	if a.Blocked < 0 {
		return string(append(b, ", by demand"...))
	}
	b = append(b, ", blocked by resource "...)
	return string(strconv.AppendInt(b, int64(a.Blocked), 10))
}

// LogValue implements [slog.LogValuer].
func (a Allocation) LogValue() slog.Value {
	return slog.GroupValue(slog.Int64("tasks", a.Tasks), slog.Int("resource", a.Resource),
		slog.Float64("share", a.Share), slog.Int("blocked", a.Blocked))
}

// Dominant divides several resources among users by dominant resource fairness (Ghodsi et al., NSDI 2011): max-min
// fairness, with weights, of what each user has of the resource of which its tasks need the largest part. The next task
// goes to the user with the smallest dominant share per weight, the lowest index first, until no task fits or is wanted.
// A user whose task does not fit gets no more. For one resource, equal tasks and equal weights that is what [Shares]
// computes; with other weights it is what an [Index] hands out.
//
// The answer is exactly that of handing out one task at a time, in integers, at a cost that does not grow with the
// number of tasks: users are raised together to the highest level at which all of them fit, to the last bit, and only
// the few tasks around that level are handed out singly.
//
// Errors name the user and the field: a negative amount, a weight below 0, or a need for each resource missing.
//
// Cost: O(n·(m + log n)) for n users and m resources each time that a resource becomes too scarce for some of the users,
// which is m times where tasks are small, and n times at worst. It allocates O(n + m).
func Dominant(users []User, capacity []int64) ([]Allocation, error) {
	d := drf{users: users, capacity: capacity, used: make([]int64, len(capacity)), free: make([]int64, len(capacity)), allocations: make([]Allocation, len(users))}
	for r, c := range capacity {
		if c < 0 {
			return nil, fmt.Errorf("fairshare: capacity %d is %d, want at least 0", r, c)
		}
	}
	for i := range users {
		if err := users[i].check(i, len(capacity)); err != nil {
			return nil, err
		}
		d.enter(i)
	}
	for len(d.active) > 0 {
		d.raise()
		d.hand()
	}
	for i := range users {
		if r := d.allocations[i].Resource; r >= 0 && capacity[r] > 0 {
			d.allocations[i].Share = float64(d.allocations[i].Tasks*users[i].Task[r]) / float64(capacity[r])
		}
	}
	return d.allocations, nil
}

func (u *User) check(i, resources int) error {
	switch {
	case u.Weight < 0:
		return fmt.Errorf("fairshare: user %d: Weight is %d, want a positive number, or 0 for 1", i, u.Weight)
	case u.Demand < 0:
		return fmt.Errorf("fairshare: user %d: Demand is %d, want at least 0", i, u.Demand)
	case len(u.Task) != resources:
		return fmt.Errorf("fairshare: user %d: Task has %d entries, want one for each of the %d resources", i, len(u.Task), resources)
	}
	for r, need := range u.Task {
		if need < 0 {
			return fmt.Errorf("fairshare: user %d: Task[%d] is %d, want at least 0", i, r, need)
		}
	}
	return nil
}
