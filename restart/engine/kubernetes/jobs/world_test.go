package jobs

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var (
	deleteNow = metav1.DeleteOptions{}
	disrupted = v1.PodCondition{Type: v1.DisruptionTarget, Status: v1.ConditionTrue}
)

// ignoresDisruptions is a rule of a podFailurePolicy that ignores disruptions.
var ignoresDisruptions = batchv1.PodFailurePolicyRule{Action: batchv1.PodFailurePolicyActionIgnore,
	OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: disrupted.Type, Status: disrupted.Status}}}

// hangs lets all pods of some indexes run for ever.
func hangs(indexes ...int) func(*toy) {
	return func(y *toy) {
		y.silent = true
		y.takes = func(p *v1.Pod) time.Duration {
			for _, i := range indexes {
				if index(p) == i {
					return 10000 * time.Hour
				}
			}
			return 20 * time.Second
		}
	}
}

// evictsOnce evicts the first pod after five seconds.
func evictsOnce(y *toy) {
	first, began := "", y.now
	y.takes = func(p *v1.Pod) time.Duration {
		if first == "" {
			first = p.Name
		}
		if p.Name != first || y.now.Sub(began) < 5*time.Second || p.DeletionTimestamp != nil {
			return 20 * time.Second
		}
		at := metav1.NewTime(y.now)
		p.DeletionTimestamp = &at
		p.Status.Conditions = append(p.Status.Conditions, disrupted)
		return 20 * time.Second
	}
}

// restartsTimes makes the kubelet restart the containers of each pod n times.
func restartsTimes(n int32) func(*toy) {
	return func(y *toy) {
		y.takes = func(p *v1.Pod) time.Duration {
			s := p.Status.ContainerStatuses
			if len(s) > 0 && s[0].State.Running != nil && index(p) == 0 && s[0].RestartCount < n {
				s[0].RestartCount++
			}
			return 20 * time.Second
		}
	}
}
