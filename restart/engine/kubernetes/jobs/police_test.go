package jobs

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
)

// police returns why the API server would refuse a Job's new status. It checks in the API server's order.
func police(was, is *batchv1.Job) (wrong []string) {
	o, s := &was.Status, &is.Status
	n := int(*is.Spec.Completions)
	complete, failed := holds(s, batchv1.JobComplete), holds(s, batchv1.JobFailed)
	over := complete || failed
	overChanged := over != finishedJob(was)
	completeChanged := complete != holds(o, batchv1.JobComplete)
	startChanged := !equality.Semantic.DeepEqual(o.StartTime, s.StartTime)
	resumes := holds(o, batchv1.JobSuspended) && !holds(s, batchv1.JobSuspended)
	suspended := is.Spec.Suspend != nil && *is.Spec.Suspend
	completed, errC := parseIndexes(s.CompletedIndexes, n)
	given, errF := make(indexes, n), error(nil)
	if s.FailedIndexes != nil {
		given, errF = parseIndexes(*s.FailedIndexes, n)
	}
	overlap := false
	for i := range completed {
		overlap = overlap || completed[i] && given[i]
	}
	open := 0
	if s.UncountedTerminatedPods != nil {
		open = len(s.UncountedTerminatedPods.Failed) + len(s.UncountedTerminatedPods.Succeeded)
		uids := slices.Clone(s.UncountedTerminatedPods.Failed)
		slices.Sort(uids)
		if len(slices.Compact(uids)) != len(s.UncountedTerminatedPods.Failed) || slices.Contains(uids, "") {
			wrong = append(wrong, "uncountedTerminatedPods has duplicates or an empty UID")
		}
	}
	elastic := is.Spec.Parallelism != nil && *is.Spec.Parallelism == *is.Spec.Completions
	terminal := func(kind batchv1.JobConditionType) bool { return holds(o, kind) && !holds(s, kind) }
	for _, rule := range []struct {
		broken bool
		says   string
	}{
		{s.Active < 0 || s.Succeeded < 0 || s.Failed < 0, "a counter is negative"},
		{complete && failed, "Complete and Failed"},
		{complete && holds(s, batchv1.JobFailureTarget), "Complete and FailureTarget"},
		{s.CompletionTime != nil && !complete, "completionTime without Complete"},
		{complete && s.CompletionTime == nil, "Complete without completionTime"},
		{s.StartTime != nil && s.CompletionTime != nil && s.CompletionTime.Before(s.StartTime),
			"completed before it started"},
		{failed && !holds(s, batchv1.JobFailureTarget), "Failed without FailureTarget"},
		{complete && !holds(s, batchv1.JobSuccessCriteriaMet), "Complete without SuccessCriteriaMet"},
		{over && s.Active > 0, "finished with active pods"},
		{over && (overChanged || startChanged) && s.StartTime == nil, "finished without a start"},
		{over && open > 0, "finished with uncounted pods"},
		{errC != nil || completed.String() != s.CompletedIndexes, "completedIndexes is not canonical"},
		{errF != nil || s.FailedIndexes != nil && given.String() != *s.FailedIndexes, "failedIndexes is not canonical"},
		{is.Spec.BackoffLimitPerIndex == nil && s.FailedIndexes != nil, "failedIndexes without backoffLimitPerIndex"},
		{overlap, "an index is complete and failed"},
		{over && s.Terminating != nil && *s.Terminating > 0, "finished with terminating pods"},
		{s.Ready != nil && *s.Ready > s.Active, "more ready than active"},
		{holds(s, batchv1.JobSuccessCriteriaMet) && failed, "SuccessCriteriaMet and Failed"},
		{holds(s, batchv1.JobSuccessCriteriaMet) && holds(s, batchv1.JobFailureTarget),
			"SuccessCriteriaMet and FailureTarget"},
		{s.Succeeded < o.Succeeded && !elastic, "succeeded decreases"},
		{s.Failed < o.Failed, "failed decreases"},
		{terminal(batchv1.JobComplete) || terminal(batchv1.JobFailed) || terminal(batchv1.JobFailureTarget) ||
			terminal(batchv1.JobSuccessCriteriaMet), "a terminal condition is taken back"},
		{o.StartTime != nil && startChanged && !suspended && !resumes, "startTime changes while it runs"},
		{o.CompletionTime != nil && !completeChanged && !equality.Semantic.DeepEqual(o.CompletionTime, s.CompletionTime),
			"completionTime changes"},
		{slices.ContainsFunc(s.Conditions, func(c batchv1.JobCondition) bool {
			return c.Status != v1.ConditionTrue && c.Status != v1.ConditionFalse || c.LastTransitionTime.IsZero()
		}), "a condition lacks its status or time"},
	} {
		if rule.broken {
			wrong = append(wrong, rule.says)
		}
	}
	return wrong
}
