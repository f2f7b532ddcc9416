package jobs

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/rules"
)

// spec contains the settings of a Job. If the Job lacks a setting, the value in the controller's configuration is
// used.
type spec struct {
	tasks      int // completions
	slots      int // parallelism
	policy     restart.Policy
	limits     restart.Limits
	policyText string // PolicyAnnotation
	interval   time.Duration
	work       []float64 // size of each index; nil: not known
	copies     bool      // two pods of an index may run at once
	shadow     bool      // decisions about slow pods are not carried out
}

// errIndexed is the error for a Job that this controller can't run, although the Job's spec.managedBy is its name.
var errIndexed = errors.New("only Jobs with completionMode Indexed and completions, at most 100000, are run")

// mostTasks is how many indexes a Job may have to be run by this controller. The API server accepts far larger Jobs
// if their parallelism is 1.
const mostTasks = 100_000

// defaults returns the settings of a Job without annotations.
func (c *Config) defaults() spec {
	return spec{policy: c.Policy, limits: c.Limits, interval: c.Interval, shadow: c.Shadow}
}

// readSpec reads the settings of a Job. If annotations are wrong, readSpec returns the defaults in their place, and
// an error that lists them. The Job is then run all the same. Only the error errIndexed means that the Job can't be
// run.
func readSpec(job *batchv1.Job, defaults spec, parse func(string) (restart.Policy, error)) (spec, error) {
	s := defaults
	mode, n := job.Spec.CompletionMode, job.Spec.Completions
	if mode == nil || *mode != batchv1.IndexedCompletion || n == nil || *n > mostTasks {
		return s, errIndexed
	}
	s.tasks, s.slots = int(*n), 1
	if job.Spec.Parallelism != nil {
		s.slots = int(*job.Spec.Parallelism)
	}
	var wrong []error
	read := func(name string, to func(text string) error) {
		if text, ok := job.Annotations[name]; ok {
			if err := to(text); err != nil {
				wrong = append(wrong, fmt.Errorf("annotation %s: %w", name, err))
			}
		}
	}
	read(CopiesAnnotation, func(string) (err error) {
		_, err = mayCopy(job)
		return err
	})
	s.copies, _ = mayCopy(job)
	read(IntervalAnnotation, func(text string) error {
		d, err := time.ParseDuration(text)
		if err == nil && d < minInterval {
			err = fmt.Errorf("it is %v, want %v or more", d, minInterval)
		}
		return set(&s.interval)(d, err)
	})
	read(PolicyAnnotation, func(text string) error {
		policy, err := parse(text)
		if err == nil {
			s.policy, s.policyText = policy, text
		}
		return err
	})
	read(ShadowAnnotation, func(text string) error { return set(&s.shadow)(strconv.ParseBool(text)) })
	read(WorkAnnotation, func(text string) error { return set(&s.work)(parseWork(text, s.tasks)) })
	return s, errors.Join(wrong...)
}

// minInterval is the shortest interval that a Job may have. A shorter interval could overload the API server.
const minInterval = 100 * time.Millisecond

// set returns a function with two arguments, a value and an error. The function stores the value in *to if the error
// is nil, and returns the error.
func set[T any](to *T) func(T, error) error {
	return func(value T, err error) error {
		if err == nil {
			*to = value
		}
		return err
	}
}

// ParsePolicy returns the policy that a text describes, such as "late,min-age=5s,speculative-cap=0.2". [rules.Parse]
// documents the texts. In addition, the text "none" gives restart.Never{}, a policy that never copies and never
// restarts.
func ParsePolicy(text string) (restart.Policy, error) {
	if text == "none" {
		return restart.Never{}, nil
	}
	return rules.Parse(text)
}

// parseWork parses the sizes of n indexes. For example, "1,1,5" are the sizes of three indexes, and "1*43,5*5" are 43
// indexes of size 1, followed by 5 indexes of size 5.
func parseWork(text string, n int) (work []float64, err error) {
	for part := range strings.SplitSeq(text, ",") {
		value, times, repeated := strings.Cut(strings.TrimSpace(part), "*")
		w, err := strconv.ParseFloat(value, 64)
		if err != nil || !(w >= 0) || math.IsInf(w, 1) {
			return nil, fmt.Errorf("the size is %q, want a number of 0 or more", value)
		}
		count := uint64(1)
		if repeated {
			if count, err = strconv.ParseUint(times, 10, 31); err != nil {
				return nil, err
			}
		}
		if uint64(len(work))+count > uint64(n) {
			return nil, fmt.Errorf("there are sizes for more than %d indexes, want %d", n, n)
		}
		for range count {
			work = append(work, w)
		}
	}
	if len(work) != n {
		return nil, fmt.Errorf("there are sizes for %d indexes, want %d", len(work), n)
	}
	return work, nil
}

// mayCopy reports whether two pods of an index may run at once, by the Job's CopiesAnnotation and
// podReplacementPolicy. It returns an error if the annotation is not a boolean value.
func mayCopy(job *batchv1.Job) (may bool, err error) {
	may = !replacesFailed(job)
	if text, ok := job.Annotations[CopiesAnnotation]; ok {
		err = set(&may)(strconv.ParseBool(text))
	}
	return may, err
}

// replacesFailed reports whether a pod of the Job may be replaced only after it has ended: podReplacementPolicy is
// Failed. This is the API's default for a Job with a podFailurePolicy.
func replacesFailed(job *batchv1.Job) bool {
	p := job.Spec.PodReplacementPolicy
	return p != nil && *p == batchv1.Failed || p == nil && job.Spec.PodFailurePolicy != nil
}

// config returns the configuration of the engine.Phase that decides about the Job. The phase has no limits of
// failures, because the controller applies the limits in the Job's spec.
func (s *spec) config(machines *engine.Machines) engine.Config {
	return engine.Config{
		Tasks: s.tasks, Work: s.work, Interval: s.interval, Machines: machines, Slots: s.slots, Policy: s.policy,
		Limits: s.limits, MaxFailures: math.MaxInt32, MaxLost: math.MaxInt32,
	}
}

// sameRun reports whether a phase that was made with the settings s can still be used with the settings o.
func (s *spec) sameRun(o *spec) bool {
	if s.tasks != o.tasks || s.policyText != o.policyText || s.interval != o.interval || s.copies != o.copies ||
		s.shadow != o.shadow || len(s.work) != len(o.work) {
		return false
	}
	for i := range s.work {
		if s.work[i] != o.work[i] {
			return false
		}
	}
	return true
}
